#pragma once
// The levels of PostgreSQL that audit knows, as it knows them.
//
//   pg-rc    READ COMMITTED: a snapshot for each statement; rows that a statement writes or locks
//            are looked at again as they are when it gets them
//   pg-rr    REPEATABLE READ: snapshot isolation, where two writers of one row conflict whatever
//            their columns, and a key that a concurrent transaction freed can be taken
//   pg-ser   SERIALIZABLE: the same, and no cycle of dependencies whose calls are all at pg-ser.
//            It gives no guarantee against calls at other levels.
#include <string>
#include <string_view>

#include "audit/axioms.h"

namespace isoscope::audit {

const Level& pg_read_committed();
const Level& pg_repeatable_read();
const Level& pg_serializable();

// Those of MariaDB, which the formulas know nothing of: small_runs.h. "mysql-rr", "REPEATABLE
// READ"; null for other names.
const Level& mysql_read_committed();
const Level& mysql_repeatable_read();
const Level* find_mysql_level(std::string_view name);
bool is_on_mariadb(const Levels& levels);

// The level of a server by one of its names: "pg-rr", "REPEATABLE READ"; null if it is none.
const Level* find_server_level(std::string_view name);
bool is_server_level(const Level& level);

// What the server looks at as it is at that moment and not in a snapshot, so that SERIALIZABLE does
// not notice: keys and UNIQUE values that are taken after they were freed, rows that refer to
// one that is deleted. Each is something that some function may do; for people.
struct CurrentChecks {
  std::string freed_key;        // empty if none
  std::string freed_reference;  // empty if none
};
CurrentChecks current_checks(const sql::Application& app);
// Why it is not known whether SERIALIZABLE lets a cycle of its own calls commit: with what it reads
// at that moment it may miss one, but its locks on pages and tables may find the same one. Empty if
// it finds all.
std::string unnoticed(const sql::Application& app);

// All functions run at levels of PostgreSQL: its rules hold, too.
bool is_on_server(const Levels& levels);
// Why nothing is proved about the application at these levels of the server: something that it does
// and the model does not; empty if there is nothing.
std::string unmodelled(const sql::Application& app, const Levels& levels);
// Some function runs at READ COMMITTED.
bool has_read_committed(const Levels& levels, const sql::Application& app);

}  // namespace isoscope::audit
