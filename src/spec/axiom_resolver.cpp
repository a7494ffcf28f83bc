#include "spec/axiom_resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/print.h"
#include "spec/resolver.h"
#include "spec/sorts.h"
#include "spec/words.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

Formula make_formula(FormulaOp op, Place place) {
  Formula formula;
  formula.op = op;
  formula.place = place;
  return formula;
}

Result<FormulaPtr> share(Formula formula) {
  return FormulaPtr(std::make_shared<const Formula>(std::move(formula)));
}

FormulaPtr negate(FormulaPtr formula) {
  Formula negation = make_formula(FormulaOp::Not, formula->place);
  negation.left = std::move(formula);
  return std::make_shared<const Formula>(std::move(negation));
}

}  // namespace

Result<FormulaPtr> AxiomResolver::resolve_axiom(const Phrase& phrase) {
  scope_.clear();
  slots_ = 0;
  depth_ = 0;
  return resolve_formula(phrase);
}

Result<FormulaPtr> AxiomResolver::resolve_formula(const Phrase& phrase) {
  ++depth_;
  auto formula = resolve_formula_of_kind(phrase);
  --depth_;
  return formula;
}

Result<FormulaPtr> AxiomResolver::resolve_formula_of_kind(const Phrase& phrase) {
  switch (phrase.kind) {
    case PhraseKind::Quantified: return resolve_quantified(phrase);
    case PhraseKind::Apply: return resolve_application(phrase);
    case PhraseKind::Not: {
      auto operand = resolve_formula(*phrase.parts[0]);
      if (!operand) return operand;
      return negate(std::move(*operand));
    }
    case PhraseKind::Binary:
      if (phrase.token.is("=") || phrase.token.is("!=")) return resolve_equality(phrase);
      if (phrase.token.is("subset")) return resolve_subset(phrase);
      if (find_word(kConnectives, phrase.token.text) != nullptr)
        return resolve_binary_formula(phrase);
      return not_a_formula(phrase);
    default: return not_a_formula(phrase);
  }
}

Result<FormulaPtr> AxiomResolver::resolve_quantified(const Phrase& phrase) {
  Formula formula = make_formula(find_word(kConnectives, phrase.token.text)->meaning, phrase.begin);
  const std::size_t outer = scope_.size();
  for (const Binder& binder : phrase.binders) {
    const Sort sort = find_word(kSortWords, binder.sort.text)->meaning;
    for (const Token& name : binder.names) {
      if (find_variable(name.text) != nullptr || lets_.count(name.text) != 0)
        return Error{.where = name.place,
                     .what = fmt::format("'{}' already has a meaning here", name.text),
                     .hint = find_variable(name.text) != nullptr
                                 ? "an enclosing quantifier binds it; take another name"
                                 : "a let defines it; take another name"};
      scope_.push_back({std::string(name.text), sort, slots_++});
      formula.variables.push_back(scope_.back());
    }
  }
  auto body = resolve_formula(*phrase.parts[0]);
  if (!body) return body;
  formula.left = std::move(*body);
  scope_.resize(outer);
  return share(std::move(formula));
}

Result<FormulaPtr> AxiomResolver::resolve_binary_formula(const Phrase& phrase) {
  Formula formula = make_formula(find_word(kConnectives, phrase.token.text)->meaning, phrase.begin);
  auto left = resolve_formula(*phrase.parts[0]);
  if (!left) return left;
  auto right = resolve_formula(*phrase.parts[1]);
  if (!right) return right;
  formula.left = std::move(*left);
  formula.right = std::move(*right);
  return share(std::move(formula));
}

Result<FormulaPtr> AxiomResolver::resolve_equality(const Phrase& phrase) {
  for (const PhrasePtr& part : phrase.parts) {
    if (part->kind == PhraseKind::Name && find_variable(part->token.text) != nullptr) continue;
    if (part->kind == PhraseKind::Name && find_word(kRelationWords, part->token.text) == nullptr &&
        lets_.count(part->token.text) == 0)
      continue;  // an unbound variable; the message comes below
    return Error{
        .where = part->begin,
        .what = fmt::format("'{}' compares variables, found {}", phrase.token.text, kind_of(*part)),
        .hint = is_formula(*part) ? "formulas are equivalent by 'iff'"
                                  : "relations are equal if each is a subset of the "
                                    "other: r subset s and s subset r"};
  }
  auto a = resolve_variable(*phrase.parts[0]);
  if (!a) return a.error();
  auto b = resolve_variable(*phrase.parts[1]);
  if (!b) return b.error();
  if (a->sort != b->sort)
    return Error{.where = phrase.parts[1]->begin,
                 .what = fmt::format("'{}' is a {}, but '{}' is a {}", a->name, name_of(a->sort),
                                     b->name, name_of(b->sort)),
                 .hint = "only variables of one sort can be equal"};
  Formula formula = make_formula(FormulaOp::Equal, phrase.begin);
  formula.a = *a;
  formula.b = *b;
  auto equal = share(std::move(formula));
  if (phrase.token.is("=")) return equal;
  return negate(std::move(*equal));
}

Result<FormulaPtr> AxiomResolver::resolve_subset(const Phrase& phrase) {
  auto left = resolve_outermost_relation(*phrase.parts[0]);
  if (!left) return left.error();
  auto right = resolve_outermost_relation(*phrase.parts[1]);
  if (!right) return right.error();
  const auto left_sorts = possible_sorts(**left);
  if (!left_sorts) return left_sorts.error();
  const auto right_sorts = possible_sorts(**right);
  if (!right_sorts) return right_sorts.error();
  const SortPairs both = *left_sorts & *right_sorts;
  if (both.empty())
    return Error{.where = phrase.token.place,
                 .what = fmt::format("the sides of 'subset' do not fit: '{}' relates {}, '{}' "
                                     "relates {}",
                                     print(**left), describe(*left_sorts), print(**right),
                                     describe(*right_sorts)),
                 .hint = ""};
  Formula formula = make_formula(FormulaOp::Subset, phrase.begin);
  formula.relation = with_sorts(**left, both.first());
  formula.other = with_sorts(**right, both.first());
  return share(std::move(formula));
}

// writes(t, x), acyclic(r), or r(t, u).
Result<FormulaPtr> AxiomResolver::resolve_application(const Phrase& phrase) {
  if (called_let(phrase) != nullptr) return not_a_formula(phrase);
  const Phrase& applied = *phrase.parts[0];
  if (applied.kind == PhraseKind::Name) {
    if (const auto* word = find_word(kAccessWords, applied.token.text))
      return resolve_access(phrase, word->meaning);
    if (find_word(kReadWords, applied.token.text) != nullptr) return resolve_current(phrase);
    if (const auto* word = find_word(kStatementWords, applied.token.text))
      return resolve_statement(phrase, word->meaning);
  }
  return resolve_membership(phrase);
}

Result<FormulaPtr> AxiomResolver::resolve_statement(const Phrase& phrase, FormulaOp op) {
  const std::string_view word = text_of(kStatementWords, op);
  if (phrase.parts.size() != 2)
    return Error{
        .where = phrase.begin,
        .what = fmt::format("'{}' is about one relation, found {}", word, phrase.parts.size() - 1),
        .hint = fmt::format("{}(so | wr)", word)};
  auto relation = resolve_outermost_relation(*phrase.parts[1]);
  if (!relation) return relation.error();
  const auto sorts = possible_sorts(**relation);
  if (!sorts) return sorts.error();
  const SortPairs fitting = op == FormulaOp::Empty ? *sorts : sorts->homogeneous();
  if (fitting.empty())
    return Error{.where = phrase.parts[1]->begin,
                 .what = fmt::format("'{}' needs the same sort on both sides, but '{}' relates {}",
                                     word, print(**relation), describe(*sorts)),
                 .hint = ""};
  Formula formula = make_formula(op, phrase.begin);
  formula.relation = with_sorts(**relation, fitting.first());
  return share(std::move(formula));
}

Result<FormulaPtr> AxiomResolver::resolve_access(const Phrase& phrase, FormulaOp op) {
  const std::string_view word = text_of(kAccessWords, op);
  const std::string hint = fmt::format("{}(t, x) with t: txn and x: key", word);
  if (phrase.parts.size() != 3)
    return Error{
        .where = phrase.begin,
        .what = fmt::format("'{}' takes a transaction and a key, found {} argument{}", word,
                            phrase.parts.size() - 1, phrase.parts.size() == 2 ? "" : "s"),
        .hint = hint};
  Formula formula = make_formula(op, phrase.begin);
  const Sort expected[] = {Sort::Txn, Sort::Key};
  for (std::size_t i = 0; i < 2; ++i) {
    auto argument = resolve_variable(*phrase.parts[i + 1]);
    if (!argument) return argument.error();
    if (argument->sort != expected[i])
      return Error{
          .where = phrase.parts[i + 1]->begin,
          .what = fmt::format("'{}' expects a {} here, found '{}', a {}", word,
                              name_of(expected[i]), argument->name, name_of(argument->sort)),
          .hint = hint};
    (i == 0 ? formula.a : formula.b) = *argument;
  }
  return share(std::move(formula));
}

Result<FormulaPtr> AxiomResolver::resolve_current(const Phrase& phrase) {
  const std::string hint = "current(r) with r: read";
  if (phrase.parts.size() != 2)
    return Error{.where = phrase.begin,
                 .what = fmt::format("'current' is about one read, found {} arguments",
                                     phrase.parts.size() - 1),
                 .hint = hint};
  auto read = resolve_variable(*phrase.parts[1]);
  if (!read) return read.error();
  if (read->sort != Sort::Read)
    return Error{.where = phrase.parts[1]->begin,
                 .what = fmt::format("'current' expects a read here, found '{}', a {}", read->name,
                                     name_of(read->sort)),
                 .hint = hint};
  Formula formula = make_formula(FormulaOp::Current, phrase.begin);
  formula.a = *read;
  return share(std::move(formula));
}

Result<FormulaPtr> AxiomResolver::resolve_membership(const Phrase& phrase) {
  auto relation = resolve_outermost_relation(*phrase.parts[0]);
  if (!relation) return relation.error();
  if (phrase.parts.size() != 3)
    return Error{.where = phrase.begin,
                 .what = fmt::format("'{}' relates two things, found {}", print(**relation),
                                     phrase.parts.size() - 1),
                 .hint = fmt::format("{}(t1, t2)", print(**relation))};
  auto a = resolve_variable(*phrase.parts[1]);
  if (!a) return a.error();
  auto b = resolve_variable(*phrase.parts[2]);
  if (!b) return b.error();
  const auto sorts = possible_sorts(**relation);
  if (!sorts) return sorts.error();
  // The first place that no sort of the relation admits is the one to point at.
  SortPairs left_fits;
  for (SortPair pair : kAllSortPairs) {
    if (sorts->contains(pair) && pair.from == a->sort) left_fits.insert(pair);
  }
  if (left_fits.empty() || !left_fits.contains({a->sort, b->sort})) {
    const Variable& wrong = left_fits.empty() ? *a : *b;
    return Error{.where = phrase.parts[left_fits.empty() ? 1 : 2]->begin,
                 .what = fmt::format("'{}' relates {}, but '{}' is a {}", print(**relation),
                                     describe(*sorts), wrong.name, name_of(wrong.sort)),
                 .hint = wrong.sort == Sort::Key ? "keys stand in brackets, as in wr[x](t1, t2), "
                                                   "or in writes(t, x)"
                                                 : ""};
  }
  Formula formula = make_formula(FormulaOp::Member, phrase.begin);
  formula.relation = with_sorts(**relation, {a->sort, b->sort});
  formula.a = *a;
  formula.b = *b;
  return share(std::move(formula));
}

const Variable* AxiomResolver::find_variable(std::string_view name) const {
  const auto found =
      std::find_if(scope_.begin(), scope_.end(), [&](const Variable& v) { return v.name == name; });
  return found == scope_.end() ? nullptr : &*found;
}

Result<Variable> AxiomResolver::resolve_variable(const Phrase& phrase) const {
  if (phrase.kind != PhraseKind::Name)
    return Error{.where = phrase.begin,
                 .what = fmt::format("expected a variable, found {}", kind_of(phrase)),
                 .hint = ""};
  if (const Variable* variable = find_variable(phrase.token.text)) return *variable;
  if (is_reserved(phrase.token.text) || lets_.count(phrase.token.text) != 0)
    return Error{.where = phrase.begin,
                 .what = fmt::format("expected a variable, found {}", kind_of(phrase)),
                 .hint = ""};
  std::vector<std::string_view> known;
  for (const Variable& variable : scope_) known.push_back(variable.name);
  const auto match = closest(phrase.token.text, known);
  return Error{.where = phrase.begin,
               .what = fmt::format("no quantifier binds '{}'", phrase.token.text),
               .hint = match ? fmt::format("did you mean '{}'?", *match)
                             : "bind it first: forall t: txn. …"};
}

}  // namespace isoscope
