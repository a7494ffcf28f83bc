#pragma once
// A block of the .txn language that runs while a program is generated.
//
// Its parser and its interpreter are those of programs (docs/programs.md). It has no database: what
// a read gives and what a write does is up to its host, so that rows, draws and the lines of a
// template need no language of their own:
//
//     c := read(between[1, accounts])     a random number
//     write(account[c], 1)                a row
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "support/result.h"
#include "support/rng.h"

namespace isoscope {

struct ScriptKey {
  std::string_view family;
  std::vector<std::int64_t> indices;

  std::string name() const;  // x, stock[1, 2]
};

// The locals of a script, by name.
class ScriptLocals {
 public:
  ScriptLocals(std::span<const std::string> names, std::span<const std::int64_t> values)
      : names_(names), values_(values) {}
  std::optional<std::int64_t> find(std::string_view name) const;

 private:
  std::span<const std::string> names_;
  std::span<const std::int64_t> values_;
};

// What the accesses of a script mean.
struct ScriptHost {
  std::function<Result<std::int64_t>(const ScriptKey&, const ScriptLocals&)> read;
  std::function<Result<void>(const ScriptKey&, std::int64_t value, const ScriptLocals&)> write;
  std::function<void(const ScriptLocals&)> end = [](const ScriptLocals&) {};
};

class Script {
 public:
  // `given` are locals that have a value when it begins. Places of errors are those of the block.
  static Result<Script> parse(std::string_view block, std::span<const std::string> given);

  // An Error of the host ends it, and so does a fault (an overflow, too many rounds) or an abort.
  Result<void> run(std::span<const std::int64_t> given, const ScriptHost& host) const;
  bool has_local(std::string_view name) const;

 private:
  explicit Script(Program program) : program_(std::move(program)) {}
  Program program_;
};

// What a script reads from chance: between[a, b] is uniform, both ends included; chance[p] is 1 in
// p of a hundred cases, else 0. No other key has a value.
Result<std::int64_t> draw(const ScriptKey& key, Rng& rng);
std::int64_t draw_between(Rng& rng, std::int64_t low, std::int64_t high);

}  // namespace isoscope
