#pragma once
// A database server, whichever it is: what probes and random clients need of it.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "force/sessions.h"

namespace isoscope::force {

// A level as the server declares it, and what a session says to have it.
struct DeclaredLevel {
  std::string name;                // "REPEATABLE READ"
  std::vector<std::string> setup;  // statements of a session, before its first transaction
};

class Server {
 public:
  Server() = default;
  virtual ~Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  virtual Result<std::unique_ptr<Sessions>> open(std::vector<ActorScript> actors) = 0;
  // On a connection of its own, which is opened anew if it was lost.
  virtual Answer run(const std::string& sql) = 0;
  // Does that connection still answer? A server that was killed has ended it.
  virtual bool is_connected() = 0;
  virtual const std::string& dsn() const = 0;
  virtual std::string product() const = 0;  // "PostgreSQL 15"
  virtual std::vector<DeclaredLevel> levels() const = 0;
  virtual std::string begin() const = 0;         // "BEGIN"
  virtual std::string share_clause() const = 0;  // "FOR SHARE"
  virtual bool has_returning() const = 0;        // UPDATE … RETURNING
  // Ends the connection that a process of the server has (Sessions::process).
  virtual std::string kill_statement(std::uint64_t process) const = 0;
  // Creates and drops what holds the tables of a run: a schema, or a database of MariaDB. `name` is
  // unique among names on the server.
  virtual std::string create_space(const std::string& name) const = 0;
  virtual std::string drop_space(const std::string& name) const = 0;
};

// `dsn` as libpq reads it, or mariadb://user:password@host:port.
Result<std::unique_ptr<Server>> open_server(const std::string& dsn);
// Is what version() answers PostgreSQL itself? Others that speak its protocol have their own
// levels.
bool is_postgresql(std::string_view version);
// The two kinds; the second says so if the program was built without libmariadb.
Result<std::unique_ptr<Server>> open_postgres(const std::string& dsn);
Result<std::unique_ptr<Server>> open_mariadb(const std::string& dsn);

}  // namespace isoscope::force
