#pragma once
// Small pieces that several readers and writers of formats share: digits, numbers, odd bytes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/blanks.h"

namespace isoscope {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return blanks::in_text(c); }
constexpr std::string_view trimmed(std::string_view text) { return trimmed(text, blanks::in_text); }

// The number, if the text is exactly how to_string prints it (no 07, no +7, no -0).
std::optional<std::int64_t> canonical_int(std::string_view text);

// Is the text how an unsigned number prints, however long?
bool is_canonical_unsigned(std::string_view text);

// Is it an unsigned number of 64 bits that is no signed one?
bool is_large_unsigned(std::string_view text);

// A byte for an error message: 'x', or 'byte 0x07' where it has no picture.
std::string show_byte(char c);

}  // namespace isoscope
