#pragma once
// Statements inside of PL/pgSQL functions, in the form in which a run of them can be recorded.
//
// A function that is called is one statement of its client, and what it reads inside is not seen on
// the wire. Two things make it seen, both in the text of the function:
//
//   variables   A gate (gates.h) before the statement tells what they hold, so that the statement
//               is known as it was executed:    UPDATE t SET v = n - 1 WHERE id = p
//                                               UPDATE t SET v = 7 - 1 WHERE id = 3
//   snapshot    A condition that is always true writes the snapshot into the server's log, as the
//               recorder does it with a client's statements (record/shape.h).
//
// The rest is the recorder's: versions, their order and what was read come from the log.
//
// A name is a variable if it stands where an expression has a column and the function declares it:
// PL/pgSQL refuses a name that could be both. What could read or write rows and is not understood
// (loops over rows, cursors, EXECUTE, EXCEPTION, …) makes the function one with a gap.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "record/statement_text.h"

namespace isoscope::force {

struct InnerStatement {
  std::string function;
  std::string shown = {};  // as it stands there, on one line
  std::uint32_t line = 0;  // of the application; 0 if it is not known
  // As it is recorded, with $1, $2, … for `variables`; empty: it is not.
  std::string sql = {};
  std::vector<std::string> variables = {};  // as the function calls them
  record::StatementKind kind = record::StatementKind::Other;
  bool tells_snapshot = false;
  bool tells_rows = false;  // their number, when it has ended
  std::string gap = {};     // why what it reads is not known, although it is recorded
};

// A word of a body, in small letters, and its place.
struct BodyWord {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
};
// Without comments; empty if the text cannot be scanned.
std::vector<BodyWord> words_of_body(std::string_view body);

// A statement and what takes its place in the function.
struct RecordableStatement {
  InnerStatement statement;
  std::size_t begin = 0;  // of the place in the body
  std::size_t end = 0;
  std::string replacement = {};
};

struct FunctionNames {
  std::string name;
  std::set<std::string> variables;  // its parameters, and what it declares
};

// The statement that begins with a word of the body; nothing if it is none that can be recorded.
std::optional<RecordableStatement> recordable(std::string_view body,
                                              const std::vector<BodyWord>& words, std::size_t first,
                                              const FunctionNames& names);

// The variables that the body declares.
std::set<std::string> declared_variables(const std::vector<BodyWord>& words);
// Why what the function reads is not known whole; empty if it is. `recorded`: what is recorded.
std::string gap_of_body(const std::vector<BodyWord>& words,
                        const std::vector<RecordableStatement>& recorded);

// The text with its $1, $2, … replaced.
std::string with_parameters(std::string_view sql, const std::vector<std::string>& values);

}  // namespace isoscope::force
