#pragma once
// Names and values as reports show them to people: on one line, without control characters (see
// support/printable.h). JSON has them as they are, and escapes them itself.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "history/history.h"
#include "program/executable.h"
#include "store/recording.h"
#include "support/printable.h"

namespace isoscope {

// A transaction, a session or a key.
template <class Id>
std::string shown(const History& h, Id id) {
  return printable(h.name(id));
}
inline std::string shown(const History& h, Value value) { return printable(h.show(value)); }

inline std::string shown_call(const Executable& program, CallId call) {
  return printable(store::name_of(program, call));
}
inline std::string shown_writer(const Executable& program, CallId writer) {
  return printable(store::name_of_writer(program, writer));
}
inline std::string shown_key(const Executable& program, ProgramKey x) {
  return printable(program.keys().name(x));
}
inline std::string shown_value(const Executable& program, ProgramKey x, std::int64_t value) {
  return printable(program.print_value(x, value));
}
inline std::string shown_local(const Executable& program, CallId call, std::size_t local,
                               std::int64_t value) {
  return printable(program.print_local(call, local, value));
}
// "left = 3, right = 4": of a transaction that ran.
inline std::string shown_locals(const Executable& program, const store::RecordedTxn& txn,
                                CallId call) {
  std::string out;
  const auto names = program.local_names(call);
  for (std::size_t i = 0; i < std::min(names.size(), txn.locals.size()); ++i) {
    if (!names[i].empty())
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", printable(names[i]),
                         shown_local(program, call, i, txn.locals[i]));
  }
  return out;
}

}  // namespace isoscope
