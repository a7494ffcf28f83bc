#pragma once
// How deep the tree of a text can become, judged by its tokens alone: parsers and builders recurse
// over trees, so what is too deep must be refused before any of them sees it.
//
// Every operator may put one level around what stands beside it, every bracket, CASE and block one
// around what stands inside. Commas, AND, OR and the like separate parts that stand side by side:
// `a = 1 AND b = 2 AND …` is wide, not deep. JOIN and UNION are deep: each holds all before it.
#include <optional>
#include <span>
#include <string_view>

#include "sql/read/pg_parse.h"
#include "support/error.h"

namespace isoscope::sql {

// Levels in each other. With so many, all that works on a tree gets along with half a megabyte of
// stack; no program that people write has a tenth of it.
inline constexpr int kMaxLevels = 500;

enum class TextKind : std::uint8_t { Sql, PlpgsqlBody };  // in a body, statements nest, too

// An error at the first token that is too deep.
std::optional<Error> find_too_deep(std::string_view text, std::span<const SqlToken> tokens,
                                   TextKind kind);

}  // namespace isoscope::sql
