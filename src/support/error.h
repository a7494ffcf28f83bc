#pragma once
// Bad input is a value: where it stands, what is wrong, and what to do about it.
//
// A parser knows line and column; the caller who opened the file adds its name. Rendered, an
// error looks like a compiler's:
//
//     my.level:7:31: error: unknown relation 'wv'
//       forall x: key, t1, t2: txn. wv[x](t1, t2) implies co(t1, t2)
//                                   ^ did you mean 'wr'?
#include <cstdint>
#include <string>
#include <string_view>

namespace isoscope {

// A position in a text, counted from 1; 0 means unknown. A column counts bytes.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Error {
  Place where = {};
  std::string what = {};
  std::string hint = {};  // what to do; may be empty
  std::string file = {};  // added by the code that opened it
  std::string line = {};  // the text of the line, where it is at hand
  // The input is not bad: a limit was reached before the answer. The program then says "unknown".
  bool is_limit = false;

  // The same error, in a file.
  Error in(std::string_view file_name) const;
  // The same error, showing the line of `text` that it points at.
  Error quoting(std::string_view text) const;
};

// The error of a budget that expired while `doing` ("reading the input").
Error limit_error(std::string_view doing);

// `file:line:col: error: what`, then the line with a caret, then the hint; no newline at the end.
std::string render(const Error& error);

}  // namespace isoscope
