#include "workload/script.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace isoscope {

namespace {

constexpr std::string_view kGiven = "given";
constexpr CallId kTheCall = {0};

}  // namespace

std::string ScriptKey::name() const {
  if (indices.empty()) return std::string(family);
  return fmt::format("{}[{}]", family, fmt::join(indices, ", "));
}

std::optional<std::int64_t> ScriptLocals::find(std::string_view name) const {
  const auto at = std::ranges::find(names_, name);
  if (at == names_.end()) return std::nullopt;
  return values_[static_cast<std::size_t>(at - names_.begin())];
}

// What is given is read before the first line, so that one code serves all runs.
Result<Script> Script::parse(std::string_view block, std::span<const std::string> given) {
  std::string text = "txn run() { ";
  for (std::size_t i = 0; i < given.size(); ++i)
    text += fmt::format("{} := read({}[{}]); ", given[i], kGiven, i);
  text += fmt::format("\n{}\n}}\nsession script {{ run() }}\n", block);
  auto program = parse_program(text);
  if (program) return Script(std::move(*program));
  Error error = program.error();
  if (error.where.line > 1) --error.where.line;
  return error;
}

Result<void> Script::run(std::span<const std::int64_t> given, const ScriptHost& host) const {
  const KeyTable& keys = program_.keys();
  const auto executor = program_.executor();
  const auto locals = [&] {
    return ScriptLocals(program_.local_names(kTheCall),
                        executor->state().first(executor->num_locals()));
  };
  executor->start(kTheCall);
  for (;;) {
    const Stop stop = executor->run();
    if (stop.kind == StopKind::Fault) return executor->fault();
    if (stop.kind == StopKind::Abort) return Error{.what = "nothing can be aborted here"};
    if (stop.kind == StopKind::Commit) break;
    const ScriptKey key{.family = keys.name(keys.family(stop.key)),
                        .indices = keys.indices(stop.key)};
    if (stop.kind == StopKind::Write) {
      if (auto done = host.write(key, stop.value, locals()); !done) return done;
    } else if (key.family == kGiven) {
      executor->answer(given[static_cast<std::size_t>(key.indices[0])]);
    } else {
      const auto value = host.read(key, locals());
      if (!value) return value.error();
      executor->answer(*value);
    }
  }
  host.end(locals());
  return {};
}

bool Script::has_local(std::string_view name) const {
  return std::ranges::find(program_.local_names(kTheCall), name) !=
         program_.local_names(kTheCall).end();
}

std::int64_t draw_between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

Result<std::int64_t> draw(const ScriptKey& key, Rng& rng) {
  if (key.family == "between" && key.indices.size() == 2 && key.indices[0] <= key.indices[1])
    return draw_between(rng, key.indices[0], key.indices[1]);
  if (key.family == "chance" && key.indices.size() == 1)
    return rng.chance(static_cast<double>(key.indices[0]) / 100) ? 1 : 0;
  return Error{.what = fmt::format("{} has no value here", key.name()),
               .hint = "between[low, high] is a random number, chance[percent] 0 or 1"};
}

}  // namespace isoscope
