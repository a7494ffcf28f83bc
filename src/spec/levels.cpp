#include "spec/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "spec/embedded_levels.h"
#include "spec/parser.h"
#include "spec/resolver.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

constexpr std::array<Framework, 3> kFrameworks = {Framework::Co, Framework::VisAr,
                                                  Framework::CoSnap};

// Where a level of that name exists, if anywhere.
std::optional<Framework> some_framework(const LevelSet& levels, std::string_view name) {
  for (Framework framework : kFrameworks) {
    if (levels.lookup(name, framework) != nullptr) return framework;
  }
  return std::nullopt;
}

struct Alias {
  std::string_view name;
  std::string_view level;
};

// What people and databases call the levels. A level of the user's with such a name comes first.
constexpr std::array<Alias, 9> kAliases = {{{"read-committed", "rc"},
                                            {"read-atomic", "ra"},
                                            {"causal", "cc"},
                                            {"prefix", "pc"},
                                            {"snapshot-isolation", "si"},
                                            {"serializable", "ser"},
                                            {"strict-serializable", "strict-ser"},
                                            {"strict-si", "strong-si"},
                                            {"strong-snapshot-isolation", "strong-si"}}};

// The name that the built-in level has.
std::string_view without_alias(std::string_view name) {
  const auto* found = std::ranges::find(kAliases, name, &Alias::name);
  return found == kAliases.end() ? name : found->level;
}

Error unknown_level(const LevelSet& levels, std::string_view name, Place place) {
  if (name == "repeatable-read")
    return Error{.where = place,
                 .what = "'repeatable-read' means different levels in different databases",
                 .hint =
                     "PostgreSQL's is pg-rr, MySQL's mysql-rr; the standard's is not among the "
                     "built-in levels: isoscope levels lists them"};
  std::vector<std::string_view> known;
  for (const auto& level : levels.all()) {
    if (std::find(known.begin(), known.end(), level->name) == known.end())
      known.push_back(level->name);
  }
  std::vector<std::string_view> all = known;
  for (const Alias& alias : kAliases) all.push_back(alias.name);
  const auto match = closest(name, all);
  return Error{.where = place,
               .what = fmt::format("unknown level '{}'", name),
               .hint = match ? fmt::format("did you mean '{}'?", *match) : suggest(name, known)};
}

Error already_declared(const Level& known, Place place) {
  return Error{.where = place,
               .what = fmt::format("level '{}' over {} already exists", known.name,
                                   orders_of(known.framework)),
               .hint = known.built_in ? "it is built in; take another name, and 'extends' to "
                                        "build upon it"
                                      : "take another name, or 'extends' to build upon it"};
}

Result<std::vector<const Level*>> find_bases(const LevelSet& levels, const LevelSyntax& syntax) {
  std::vector<const Level*> bases;
  for (const NameOfLevel& base : syntax.bases) {
    const Level* level = levels.lookup(base.name, syntax.framework);
    if (level == nullptr) level = levels.lookup(without_alias(base.name), syntax.framework);
    if (level == nullptr) {
      const auto elsewhere = some_framework(levels, base.name);
      if (!elsewhere) return unknown_level(levels, base.name, base.place);
      return Error{.where = base.place,
                   .what = fmt::format("level '{}' is not defined over {}", base.name,
                                       orders_of(syntax.framework)),
                   .hint = fmt::format("'{}' exists only over {}, and a level extends levels over "
                                       "the same orders",
                                       base.name, orders_of(*elsewhere))};
    }
    bases.push_back(level);
  }
  return bases;
}

bool speaks_of_statements(const RelationExpr& r) {
  return r.op == RelationOp::Of || r.op == RelationOp::Same || r.op == RelationOp::Waited ||
         (r.left != nullptr && speaks_of_statements(*r.left)) ||
         (r.right != nullptr && speaks_of_statements(*r.right));
}

bool speaks_of_statements(const Formula& f) {
  return f.op == FormulaOp::Locks || f.op == FormulaOp::WritesRow || f.op == FormulaOp::Current ||
         (f.relation != nullptr && speaks_of_statements(*f.relation)) ||
         (f.other != nullptr && speaks_of_statements(*f.other)) ||
         (f.left != nullptr && speaks_of_statements(*f.left)) ||
         (f.right != nullptr && speaks_of_statements(*f.right));
}

}  // namespace

bool speaks_of_statements(const Level& level) {
  return level.framework == Framework::CoSnap ||
         std::any_of(level.axioms.begin(), level.axioms.end(),
                     [](const Axiom& axiom) { return speaks_of_statements(*axiom.formula); });
}

Result<void> require_plain(const Level& level, std::string_view who) {
  const auto refuse = [&](std::string_view why) {
    return Error{
        .what = fmt::format("{} does not know levels {}, as '{}' is", who, why, level.full_name()),
        .hint = "isoscope check decides it; isoscope levels lists the others"};
  };
  if (level.framework == Framework::CoSnap) return refuse("over co, snap");
  if (level.is_wr_free) return refuse("over co, wr free");
  if (level.uses_real_time) return refuse("about real time");
  if (level.framework == Framework::Co && !level.uses_session_order)
    return refuse("over co without so");
  if (speaks_of_statements(level)) return refuse("about statements and locks");
  return {};
}

const LevelSet& LevelSet::built_in() {
  static const LevelSet levels = load_built_in();
  return levels;
}

LevelSet LevelSet::load_built_in() {
  LevelSet levels;
  for (const EmbeddedFile& file : embedded_level_files()) {
    const auto added = levels.add(file.text, file.name);
    // A program whose own levels do not parse has no meaning; the tests load them all.
    if (!added) std::fprintf(stderr, "%s\n", render(added.error()).c_str());
    ISO_ASSERT(added.ok());
  }
  for (auto& level : levels.levels_) {
    Level copy = *level;
    copy.built_in = true;
    level = std::make_shared<const Level>(std::move(copy));
  }
  return levels;
}

Result<void> LevelSet::add(std::string_view text, std::string_view file) {
  const auto fail = [&](const Error& error) { return error.quoting(text).in(file); };
  auto parsed = parse_levels(text);
  if (!parsed) return fail(parsed.error());
  LevelSet extended = *this;
  for (const LevelSyntax& syntax : *parsed) {
    if (const Level* known = lookup(syntax.name.name, syntax.framework))
      return fail(already_declared(*known, syntax.name.place));
    if (const Level* known = extended.lookup(syntax.name.name, syntax.framework))
      return fail(already_declared(*known, syntax.name.place));
    if (extended.levels_.size() == kMaxLevels)
      return fail(Error{.where = syntax.name.place,
                        .what = fmt::format("there are more than {} levels", kMaxLevels),
                        .hint = "split the file"});
    auto bases = find_bases(extended, syntax);
    if (!bases) return fail(bases.error());
    auto level = resolve_level(syntax, *bases);
    if (!level) return fail(level.error());
    extended.levels_.push_back(std::make_shared<const Level>(std::move(*level)));
  }
  *this = std::move(extended);
  return {};
}

const Level* LevelSet::lookup(std::string_view name, Framework framework) const {
  for (const auto& level : levels_) {
    if (level->name == name && level->framework == framework) return level.get();
  }
  return nullptr;
}

Result<const Level*> LevelSet::find(std::string_view name, Framework preferred) const {
  const std::size_t at = name.find('@');
  std::string bare = lower_case(name.substr(0, at));
  if (!some_framework(*this, bare)) bare = without_alias(bare);
  const auto elsewhere = some_framework(*this, bare);
  if (!elsewhere) return unknown_level(*this, bare, {});
  if (at == std::string_view::npos) {
    const Level* level = lookup(bare, preferred);
    return level != nullptr ? level : lookup(bare, *elsewhere);
  }
  const std::string suffix = lower_case(name.substr(at + 1));
  const auto* framework = std::ranges::find(
      kFrameworks, suffix, [](Framework known) { return std::string(name_of(known)); });
  if (framework == kFrameworks.end())
    return Error{.what = fmt::format("unknown framework '{}' in '{}'", suffix, name),
                 .hint = fmt::format("write {0}@co, {0}@vis or {0}@snap", bare)};
  if (const Level* level = lookup(bare, *framework)) return level;
  return Error{
      .what = fmt::format("level '{}' is not defined over {}", bare, orders_of(*framework)),
      .hint = fmt::format("it is defined over {}: write {}@{}", orders_of(*elsewhere), bare,
                          name_of(*elsewhere))};
}

}  // namespace isoscope
