#pragma once
// Stops PL/pgSQL functions between their statements, on the server itself.
//
// A function that is called runs to its end; to put other transactions between its statements, a
// gate goes before each of them: a call of a function that takes an advisory lock, which the
// scheduler holds until it is that statement's turn. The function is otherwise the user's own, run
// by the server's own interpreter, at the level of the call.
//
//     BEGIN
//       PERFORM s.isoscope_gate(); SELECT balance INTO v FROM account WHERE id = p;
//       IF v >= amount THEN
//         PERFORM s.isoscope_gate(); UPDATE account SET balance = v - amount WHERE id = p;
//       END IF;
//     END
//
// The first gate of a call is open: the call itself is the first turn, and takes the snapshot.
#include <string>
#include <string_view>

#include "support/result.h"

namespace isoscope::force {

inline constexpr int kGatesOfACall = 64;               // further ones are open
inline constexpr int kFirstGateClass = 1'500'000'000;  // of advisory locks; one more per actor

// The text of an application with gates in the bodies of its PL/pgSQL functions that are dollar
// quoted. `schema` is where the gate's function is.
Result<std::string> with_gates(std::string_view application, const std::string& schema);
// CREATE FUNCTION of the gate.
std::string gate_function(const std::string& schema);

}  // namespace isoscope::force
