#pragma once
// Text that comes from outside, made fit to be shown.
//
// Names, keys, values and file names may hold anything: newlines that forge lines of a report,
// escape sequences that terminals obey, bytes that are no UTF-8, characters that turn the direction
// of writing. What people see shows such characters as escapes instead: \n, \x1b, \u202e. This is
// for eyes only; formats that are read again have their own escapes, which say the same text.
#include <cstddef>
#include <string>
#include <string_view>

namespace isoscope {

// The first character of a text.
struct FirstCharacter {
  std::size_t size = 1;    // in bytes; 1 if they are no UTF-8
  char32_t code = 0;       // or the byte
  bool is_utf8 = false;    //
  bool is_visible = true;  // fit to be shown: no control character, no mark of direction
};
// Requires: a text that is not empty.
FirstCharacter first_character(std::string_view text);

// How many bytes at the beginning stand for themselves between double quotes, whoever reads them:
// visible ASCII without quotes and backslashes.
inline std::size_t plain_length(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
    ++i;
  return i;
}

// One line, for a name or a value.
std::string printable(std::string_view text);

// A whole report: its newlines and tabs stay. With `colours`, the sequences that Paint (in
// report/paint.h) makes stay, too, so that names in it must have been made printable before.
std::string printable_lines(std::string_view text, bool colours = false);

// \u202e. Requires: a character that is not visible.
std::string json_escape(char32_t code);

// A text of JSON, in which characters that are not fit to be shown become \uXXXX.
// Requires: UTF-8, and newlines only between its parts.
std::string printable_json(std::string_view json);

}  // namespace isoscope
