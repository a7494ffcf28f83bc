#pragma once
// Where the formulas know less than the program: notes for the user.
#include <optional>
#include <string>
#include <vector>

#include "sql/application.h"

namespace isoscope::audit {

// One note for each function with arithmetic that is an unknown function of its operands in the
// formulas (symbols.h): products of two variables, quotients and remainders.
// Locks that do not wait are noted, too: the formulas let them wait.
std::vector<sql::Note> model_notes(const sql::Application& app);

// Why the function cannot be audited though it can be run: it changes a primary key, looks
// in one statement at a table that the same statement changes, or calls a function inside of a
// statement where it may run at another time or not at all. Nothing if it can.
// Advisory locks have a meaning at a server's levels only.
std::optional<Error> refusal(const sql::Application& app, const sql::Function& function,
                             bool on_server);
// Takes such functions out, and says why, in their order.
struct Refused {
  std::string function;
  Error why;
};
std::vector<Refused> remove_refused(sql::Application& app, bool on_server);
// A function that is not audited may do anything to the others: nothing is proved of them.
sql::Note left_out_note(const std::string& function, const Error& why);

}  // namespace isoscope::audit
