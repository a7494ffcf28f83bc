#pragma once
// What is known about levels with engines: the one table that all engines ask.
//
// Levels come from texts, and most of what the program wants to know of one follows from its
// axioms. Nine of them have a Logic (verdict/logic.h, which also knows what each implies), a
// meaning that engines are made for; a row says what cannot be read off a text:
//
//     logic   engine   do stores offer it
//
// The rest is computed: the weak level that a quick engine may ask first is the strongest weak one
// that is implied.
//
// A level of the user's with a known logic needs a text and nothing else; a new engine needs a row.
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "check/strong/strong.h"
#include "check/weak/weak.h"
#include "spec/level.h"
#include "verdict/logic.h"

namespace isoscope {

struct LogicRow {
  Logic logic;
  std::variant<WeakLevel, StrongLevel> engine;
  bool is_offered = false;  // do stores offer it, so that advice may name it?
};
// By Logic.
std::span<const LogicRow> logic_rows();
const LogicRow& row_of(Logic logic);

std::optional<WeakLevel> weak_level(Logic logic);
std::optional<StrongLevel> strong_level(Logic logic);
Logic logic_of(WeakLevel level);
Logic logic_of(StrongLevel level);

// The strongest level of the saturation that the logic implies.
WeakLevel weak_base(Logic logic);

// Does every history that satisfies `a` satisfy `b`? False also where it is not known. By logics,
// or because `a` has all axioms of `b`.
bool implies(const Level& a, const Level& b);

// The built-in levels with a logic other than true, from the weakest up, each name once; with
// `real_time` their strict forms too, but for those that are grounded.
std::vector<const Level*> levels_with_engines(bool real_time);

// Those of `levels` that no other one of them implies, in their order.
std::vector<const Level*> strongest_of(const std::vector<const Level*>& levels);

}  // namespace isoscope
