#pragma once
// nextval, currval and lastval in expressions.
//
//   nextval('s')    a Select with `draws` before the statement, into a hidden variable
//   currval('s')    the last value of s that the call has drawn: a hidden variable that is set
//   lastval()       behind every draw, by follow_current_values() once all statements are there
//
// A column that a sequence fills needs no such statement: the INSERT draws by itself, unless the
// function asks for the value by currval.
#include "sql/application.h"
#include "sql/read/expr_builder.h"

namespace isoscope::sql {

// The sequence that a call of nextval or currval names; empty if that is computed.
std::string sequence_in(const Catalog& catalog, const Tree& call);
// Its argument alone, which may be pg_get_serial_sequence(…).
std::string sequence_argument(const Catalog& catalog, const Tree& given);
// How many calls of nextval, currval and lastval there are, and of which sequences; "*" for any.
std::size_t find_sequences(const Catalog& catalog, const Tree& node, std::set<std::string>& names);
// A call of nextval, currval or lastval; nothing for other names.
std::optional<Expr> build_sequence_call(Scope& scope, const std::string& name, const Tree& call,
                                        Place place);

// Sets what currval and lastval give in the function. Fails where no value was drawn before for
// sure: the session may have drawn one earlier. False: the function uses neither.
// Requires: the tables of `app` know which sequences fill them (SequenceUses::settle).
bool follow_current_values(const Application& app, std::span<const Trigger> triggers,
                           Function& function, Findings& findings);

}  // namespace isoscope::sql
