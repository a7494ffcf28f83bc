#pragma once
// Words as people type them: in letters of any size, and with slips ("did you mean …?").
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace isoscope {

// With small letters in place of capital ones, of ASCII alone: what names and keywords are compared
// by.
std::string lower_case(std::string_view text);

// How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn `a`
// into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word closest to `word`, if it is close enough to be a typing slip.
std::optional<std::string_view> closest(std::string_view word,
                                        std::span<const std::string_view> known);

// "did you mean 'wr'?", or, where nothing is close, "known: so, wr, co".
std::string suggest(std::string_view word, std::span<const std::string_view> known);

}  // namespace isoscope
