#include "spec/resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/axiom_resolver.h"
#include "spec/canonical.h"
#include "spec/rule.h"

namespace isoscope {

namespace {

Result<void> inherit(Level& level, const LevelSyntax& syntax,
                     const std::vector<const Level*>& bases) {
  level.uses_session_order = !syntax.without_so;
  level.is_wr_free = syntax.wr_free.has_value();
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const Level& base = *bases[i];
    if (base.uses_session_order && syntax.without_so)
      return Error{.where = *syntax.without_so,
                   .what = fmt::format("'{}' cannot go without so: it extends '{}', which has it",
                                       level.name, base.name),
                   .hint = "a level that extends another is at least as strong"};
    if (!base.is_wr_free && syntax.wr_free)
      return Error{.where = *syntax.wr_free,
                   .what = fmt::format("'{}' cannot be free of wr: it extends '{}', whose co "
                                       "contains it",
                                       level.name, base.name),
                   .hint = "a level that extends another is at least as strong"};
    for (const Axiom& axiom : base.axioms) {
      const auto known = std::find_if(level.axioms.begin(), level.axioms.end(),
                                      [&](const Axiom& other) { return other.name == axiom.name; });
      if (known == level.axioms.end()) {
        level.axioms.push_back(axiom);
      } else if (known->formula != axiom.formula) {
        return Error{.where = syntax.bases[i].place,
                     .what = fmt::format("'{}' and '{}' have different axioms of the name '{}'",
                                         known->level, axiom.level, axiom.name),
                     .hint = "write one of them out under another name instead of extending both"};
      }
    }
  }
  const auto lacks_so = [](const Level* base) { return !base->uses_session_order; };
  if (!bases.empty() && std::all_of(bases.begin(), bases.end(), lacks_so))
    level.uses_session_order = false;
  return {};
}

bool says_real_time(const RelationPtr& r) {
  return r != nullptr &&
         (r->op == RelationOp::Rt || says_real_time(r->left) || says_real_time(r->right));
}

bool says_real_time(const FormulaPtr& f) {
  return f != nullptr && (says_real_time(f->relation) || says_real_time(f->other) ||
                          says_real_time(f->left) || says_real_time(f->right));
}

bool is_membership_of(const Formula* f, RelationOp op) {
  return f != nullptr && f->op == FormulaOp::Member && f->relation->op == op;
}

// The variable for the transaction, or its read, whose view an axiom constrains; nothing if the
// formula has none of these shapes. Only axioms that have one can be assigned to single
// transactions.
//
//   over co        forall … . … and wr[x](t1, t3) and …  implies  co(t2, t1)      the reader t3,
//                  or the transaction of the read r where it is wr[x](t1, r)
//   over vis, ar   forall … . …  implies  vis(s, t)                               t, which sees s
//   over co, snap  forall … . …  implies  snap(s, r)             the transaction of the read r
//
// A conflict axiom fits the second shape when it says which writer comes later:
// `writes(t1, x) and writes(t2, x) and ar(t1, t2) implies vis(t1, t2)`.
std::optional<Variable> find_subject(const Formula& formula, Framework framework) {
  const Rule rule = rule_of(formula);
  if (framework == Framework::VisAr) {
    if (!is_membership_of(rule.conclusion, RelationOp::Vis)) return std::nullopt;
    return rule.conclusion->b;
  }
  if (framework == Framework::CoSnap) {
    if (!is_membership_of(rule.conclusion, RelationOp::Snap)) return std::nullopt;
    return rule.conclusion->b;
  }
  if (!is_membership_of(rule.conclusion, RelationOp::Co)) return std::nullopt;
  const int writer = rule.conclusion->b->slot;
  std::optional<Variable> reader;
  for (const Formula* premise : rule.premises) {
    if (!is_membership_of(premise, RelationOp::Wr) || !premise->relation->key) continue;
    if (premise->a->slot != writer) continue;
    // Two different readers of t1 leave open whose reads the axiom is about.
    if (reader && reader->slot != premise->b->slot) return std::nullopt;
    reader = premise->b;
  }
  return reader;
}

Error too_many_axioms(const Level& level, Place place) {
  return Error{.where = place,
               .what = fmt::format("level '{}' has more than {} axioms", level.name, kMaxAxioms),
               .hint = "join axioms with 'and'"};
}

}  // namespace

Result<Level> resolve_level(const LevelSyntax& syntax, const std::vector<const Level*>& bases) {
  Level level;
  level.name = syntax.name.name;
  level.framework = syntax.framework;
  level.summary = syntax.summary;
  level.text = syntax.text;
  if (auto inherited = inherit(level, syntax, bases); !inherited) return inherited.error();
  if (level.axioms.size() > kMaxAxioms) return too_many_axioms(level, syntax.name.place);

  AxiomResolver resolver(syntax.framework);
  for (const Declaration& declaration : syntax.declarations) {
    if (declaration.keyword.is("let")) {
      if (auto added = resolver.add_let(declaration); !added) return added.error();
      continue;
    }
    if (level.axioms.size() == kMaxAxioms) return too_many_axioms(level, declaration.keyword.place);
    const std::string name(declaration.name.text);
    const auto known = std::find_if(level.axioms.begin(), level.axioms.end(),
                                    [&](const Axiom& other) { return other.name == name; });
    if (known != level.axioms.end())
      return Error{.where = declaration.name.place,
                   .what = fmt::format("level '{}' has two axioms '{}'", level.name, name),
                   .hint = known->level == level.name
                               ? fmt::format("the first one is on line {}", known->place.line)
                               : fmt::format("it inherits one from '{}'", known->level)};
    auto formula = resolver.resolve_axiom(*declaration.body);
    if (!formula) return formula.error();
    level.axioms.push_back({.name = name,
                            .level = level.name,
                            .formula = *formula,
                            .slots = resolver.slots(),
                            .subject = find_subject(**formula, level.framework),
                            .text = declaration.text,
                            .canonical = canonical_text(**formula),
                            .place = declaration.keyword.place});
  }
  level.uses_real_time = std::any_of(level.axioms.begin(), level.axioms.end(),
                                     [](const Axiom& a) { return says_real_time(a.formula); });
  return level;
}

}  // namespace isoscope
