#pragma once
// Stops PL/pgSQL functions between their statements, on the server itself.
//
// A function that is called runs to its end; to put other transactions between its statements, a
// gate goes before each of them: a call of a function that takes an advisory lock, which the
// scheduler holds until it is that statement's turn. The function is otherwise the user's own, run
// by the server's own interpreter, at the level of the call. (G is short for the call of the gate,
// in a form that changes neither FOUND nor ROW_COUNT.)
//
//     BEGIN
//       G; SELECT balance INTO v FROM account WHERE id = p;
//       IF v >= amount THEN
//         G; UPDATE account SET balance = v - amount WHERE id = p;
//       END IF;
//     END
//
// The first gate of a call is open: the call itself is the first turn, and takes the snapshot.
//
// A gate also tells its client which statement comes and what its variables hold, as a message of
// the level INFO, which no setting holds back; with Gates::Record the statements themselves tell
// the rest that a history needs (inner_statements.h).
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "force/ids.h"
#include "force/inner_statements.h"
#include "support/result.h"

namespace isoscope::force {

inline constexpr int kGatesOfACall = 64;               // further ones are open
inline constexpr int kFirstGateClass = 1'500'000'000;  // of advisory locks; one more per actor
inline constexpr int kMostGatedActors = 6;

enum class Gates : std::uint8_t {
  Stop,    // statements have gates, and are as they were
  Record,  // and they report their snapshots and rows
};

// What of a function has no gate of its own, and so runs together with the statement before it:
// schedules in which another comes between are not played.
struct Ungated {
  std::string why = {};     // empty: everything has one
  bool only_reads = false;  // which is no matter where a transaction has one snapshot
};

struct GatedApplication {
  std::string sql;
  ById<InnerId, InnerStatement> statements = {};
  std::map<std::string, Ungated> ungated = {};  // of each function, by name
  // Of each function, by name: why not all that it reads is known; empty if it is.
  std::map<std::string, std::string> gaps = {};
};

// The text of an application with gates in the bodies of its PL/pgSQL functions that are dollar
// quoted. `schema` is where the gate's functions are.
Result<GatedApplication> with_gates(std::string_view application, const std::string& schema,
                                    Gates gates);
// CREATE FUNCTION of the gate, and of what it needs.
std::string gate_functions(const std::string& schema);

// What a gate has reported.
struct GateNotice {
  InnerId statement = {};                  // of GatedApplication
  StatementId turn = {};                   // of the call: the place among its gates
  std::uint64_t execution = 0;             // the gate of the recorder
  std::int64_t time = 0;                   // of the server, in microseconds
  std::vector<std::string> values;         // of the variables, as SQL
  std::optional<std::uint64_t> rows = {};  // when the statement has ended
  std::optional<std::int64_t> end = {};
};
// In the order of a connection. What others have said is passed over.
std::vector<GateNotice> read_notices(const std::vector<std::string>& notices);
// What notices of gates begin with.
inline constexpr std::string_view kGateNotice = "isoscope gate ";
inline constexpr std::string_view kRowsNotice = "isoscope rows ";

}  // namespace isoscope::force
