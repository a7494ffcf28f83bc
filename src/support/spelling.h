#pragma once
// "Did you mean …?": the closest of a few known words.
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace isoscope {

// How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn `a`
// into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word closest to `word`, if it is close enough to be a typing slip.
std::optional<std::string_view> closest(std::string_view word,
                                        std::span<const std::string_view> known);

// "did you mean 'wr'?", or, where nothing is close, "known: so, wr, co".
std::string suggest(std::string_view word, std::span<const std::string_view> known);

}  // namespace isoscope
