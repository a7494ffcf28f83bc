// The relations of AxiomResolver, and what it says about words that are none.
#include <fmt/format.h>

#include <algorithm>

#include "spec/axiom_resolver.h"
#include "spec/parser.h"
#include "spec/print.h"
#include "spec/resolver.h"
#include "spec/sorts.h"
#include "spec/words.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

RelationExpr make_relation(RelationOp op, Place place) {
  RelationExpr relation;
  relation.op = op;
  relation.place = place;
  return relation;
}

bool takes_index(RelationOp op) {
  return op == RelationOp::Wr || op == RelationOp::Ww || op == RelationOp::Rw;
}

// Is it an order of a witness, but of another framework?
bool is_foreign(RelationOp op, Framework framework) {
  switch (framework) {
    case Framework::Co:
      return op == RelationOp::Vis || op == RelationOp::Ar || op == RelationOp::Snap;
    case Framework::VisAr: return op == RelationOp::Co || op == RelationOp::Snap;
    case Framework::CoSnap: return op == RelationOp::Vis || op == RelationOp::Ar;
  }
  return false;
}

}  // namespace

Result<void> AxiomResolver::add_let(const Declaration& declaration) {
  const Token& name = declaration.name;
  if (const auto known = lets_.find(name.text); known != lets_.end())
    return Error{
        .where = name.place,
        .what = fmt::format("'{}' is defined twice", name.text),
        .hint = fmt::format("the first let is on line {}", known->second->keyword.place.line)};
  scope_.clear();
  depth_ = 0;
  for (const Token& parameter : declaration.parameters) {
    if (lets_.count(parameter.text) != 0 || parameter.text == name.text)
      return Error{.where = parameter.place,
                   .what = fmt::format("'{}' already has a meaning here", parameter.text),
                   .hint = "a let defines it; take another name"};
    // What it stands for is known at each use only; so does its sort.
    arguments_[parameter.text] = measured(
        std::make_shared<const RelationExpr>(make_relation(RelationOp::So, parameter.place)));
  }
  auto relation = resolve_relation(*declaration.body, 1);
  arguments_.clear();
  if (!relation) return relation.error();
  if (declaration.parameters.empty()) {
    if (auto sorts = possible_sorts(**relation); !sorts) return sorts.error();
  }
  lets_.emplace(name.text, &declaration);
  return {};
}

Result<RelationPtr> AxiomResolver::make(RelationExpr relation) {
  if (++nodes_ > kMaxNodes)
    return Error{.where = relation.place,
                 .what = fmt::format("the level has more than {} parts once its lets are expanded",
                                     kMaxNodes),
                 .hint = "a let that uses another one twice doubles it"};
  return RelationPtr(std::make_shared<const RelationExpr>(std::move(relation)));
}

Result<RelationPtr> AxiomResolver::resolve_relation(const Phrase& phrase, int depth) {
  if (depth > kMaxDepth)
    return Error{
        .where = phrase.begin,
        .what = fmt::format("this nests deeper than {} once its lets are expanded", kMaxDepth),
        .hint = "use fewer lets that build upon each other"};
  switch (phrase.kind) {
    case PhraseKind::Name: return resolve_relation_name(phrase, depth);
    case PhraseKind::Index: return resolve_index(phrase);
    case PhraseKind::Set: return resolve_set(phrase);
    case PhraseKind::Postfix: {
      auto operand = resolve_relation(*phrase.parts[0], depth + 1);
      if (!operand) return operand;
      RelationExpr relation =
          make_relation(find_word(kRelationSigns, phrase.token.text)->meaning, phrase.begin);
      relation.left = std::move(*operand);
      return make(std::move(relation));
    }
    case PhraseKind::Binary:
      if (find_word(kRelationSigns, phrase.token.text) != nullptr)
        return resolve_binary_relation(phrase, depth);
      return not_a_relation(phrase);
    case PhraseKind::Apply:
      if (const Declaration* let = called_let(phrase)) return resolve_let(phrase, *let, depth);
      return not_a_relation(phrase);
    default: return not_a_relation(phrase);
  }
}

Result<RelationPtr> AxiomResolver::resolve_relation_name(const Phrase& phrase, int depth) {
  const Token& name = phrase.token;
  if (const auto* word = find_word(kRelationWords, name.text)) {
    if (is_foreign(word->meaning, framework_)) return wrong_witness(name);
    return make(make_relation(word->meaning, name.place));
  }
  if (arguments_.count(name.text) != 0) return resolve_parameter(name, depth);
  if (const auto let = lets_.find(name.text); let != lets_.end())
    return resolve_let(phrase, *let->second, depth);
  if (find_variable(name.text) != nullptr || is_reserved(name.text)) return not_a_relation(phrase);
  return unknown_relation(name);
}

AxiomResolver::Argument AxiomResolver::measured(const RelationPtr& relation) {
  Argument argument{relation, 1, 1};
  for (const RelationPtr& part : {relation->left, relation->right}) {
    if (part == nullptr) continue;
    const Argument inner = measured(part);
    argument.nodes += inner.nodes;
    argument.depth = std::max(argument.depth, inner.depth + 1);
  }
  return argument;
}

Result<RelationPtr> AxiomResolver::resolve_parameter(const Token& name, int depth) {
  const Argument& argument = arguments_.at(name.text);
  nodes_ += argument.nodes - 1;  // one is counted below
  if (depth + argument.depth > kMaxDepth)
    return Error{
        .where = name.place,
        .what = fmt::format("this nests deeper than {} once its lets are expanded", kMaxDepth),
        .hint = "use fewer lets that build upon each other"};
  return make(*argument.relation);
}

// `f`, or f(r, s) for a let with parameters.
Result<RelationPtr> AxiomResolver::resolve_let(const Phrase& use, const Declaration& let,
                                               int depth) {
  const std::size_t given = use.kind == PhraseKind::Apply ? use.parts.size() - 1 : 0;
  if (given != let.parameters.size())
    return Error{
        .where = use.begin,
        .what = fmt::format("'{}' takes {} relation{}, found {}", let.name.text,
                            let.parameters.size(), let.parameters.size() == 1 ? "" : "s", given),
        .hint = fmt::format("its let is on line {}", let.keyword.place.line)};
  // Arguments are of the place of use; nothing else of that place has a meaning inside the let.
  std::map<std::string_view, Argument> arguments;
  for (std::size_t i = 0; i < given; ++i) {
    auto argument = resolve_relation(*use.parts[i + 1], depth + 1);
    if (!argument) return argument;
    arguments[let.parameters[i].text] = measured(*argument);
  }
  std::vector<Variable> scope;
  scope.swap(scope_);
  arguments.swap(arguments_);
  auto relation = resolve_relation(*let.body, depth + 1);
  scope.swap(scope_);
  arguments.swap(arguments_);
  if (relation) return relation;
  // The let itself is well-formed; what can be too much is this use of it.
  Error too_much = relation.error();
  too_much.where = use.begin;
  return too_much;
}

Result<RelationPtr> AxiomResolver::resolve_index(const Phrase& phrase) {
  const Phrase& indexed = *phrase.parts[0];
  if (indexed.kind != PhraseKind::Name)
    return Error{.where = phrase.token.place,
                 .what = "only wr, ww and rw have an index",
                 .hint = "write the index at the name: (wr[x] ; so)"};
  const auto* word = find_word(kRelationWords, indexed.token.text);
  if (word == nullptr && lets_.count(indexed.token.text) == 0 && !is_reserved(indexed.token.text))
    return unknown_relation(indexed.token);
  if (word == nullptr || !takes_index(word->meaning))
    return Error{.where = phrase.token.place,
                 .what = fmt::format("'{}' has no index", indexed.token.text),
                 .hint = "only wr, ww and rw are per key"};
  auto key = resolve_key(*phrase.parts[1]);
  if (!key) return key.error();
  RelationExpr relation = make_relation(word->meaning, phrase.begin);
  relation.key = *key;
  return make(std::move(relation));
}

Result<RelationPtr> AxiomResolver::resolve_set(const Phrase& phrase) {
  const Phrase& set = *phrase.parts[0];
  const bool of_key = set.kind == PhraseKind::Apply && set.parts.size() == 2;
  const Phrase& name = of_key ? *set.parts[0] : set;
  const auto* word =
      name.kind == PhraseKind::Name ? find_word(kSetWords, name.token.text) : nullptr;
  if (word == nullptr) {
    const auto known = texts_of(kSetWords);
    const auto match =
        name.kind == PhraseKind::Name ? closest(name.token.text, known) : std::nullopt;
    return Error{.where = set.begin,
                 .what = name.kind == PhraseKind::Name
                             ? fmt::format("unknown set '{}'", name.token.text)
                             : "expected the name of a set",
                 .hint = match ? fmt::format("did you mean '{}'?", *match)
                               : "the sets are writers, writers(x), readers and aborted"};
  }
  RelationExpr relation = make_relation(RelationOp::IdentityOn, phrase.begin);
  relation.set = word->meaning;
  if (of_key) {
    if (word->meaning != SetName::Writers)
      return Error{.where = set.begin,
                   .what = fmt::format("'{}' is not per key", word->text),
                   .hint = "of the sets only writers(x) takes a key"};
    auto key = resolve_key(*set.parts[1]);
    if (!key) return key.error();
    relation.key = *key;
  }
  return make(std::move(relation));
}

Result<RelationPtr> AxiomResolver::resolve_binary_relation(const Phrase& phrase, int depth) {
  if (auto misplaced = misplaced_application(phrase)) return *misplaced;
  auto left = resolve_relation(*phrase.parts[0], depth + 1);
  if (!left) return left;
  auto right = resolve_relation(*phrase.parts[1], depth + 1);
  if (!right) return right;
  RelationExpr relation =
      make_relation(find_word(kRelationSigns, phrase.token.text)->meaning, phrase.token.place);
  relation.left = std::move(*left);
  relation.right = std::move(*right);
  return make(std::move(relation));
}

Result<Variable> AxiomResolver::resolve_key(const Phrase& phrase) const {
  auto variable = resolve_variable(phrase);
  if (!variable || variable->sort == Sort::Key) return variable;
  return Error{.where = phrase.begin,
               .what = fmt::format("expected a key, found '{}', a {}", variable->name,
                                   name_of(variable->sort)),
               .hint = "bind it as a key: forall x: key. …"};
}

bool AxiomResolver::is_formula(const Phrase& phrase) const {
  switch (phrase.kind) {
    case PhraseKind::Apply: return called_let(phrase) == nullptr;
    case PhraseKind::Not:
    case PhraseKind::Quantified: return true;
    case PhraseKind::Binary: return find_word(kRelationSigns, phrase.token.text) == nullptr;
    default: return false;
  }
}

const Declaration* AxiomResolver::called_let(const Phrase& phrase) const {
  if (phrase.kind != PhraseKind::Apply || phrase.parts[0]->kind != PhraseKind::Name) return nullptr;
  const auto let = lets_.find(phrase.parts[0]->token.text);
  if (let == lets_.end() || let->second->parameters.empty()) return nullptr;
  return let->second;
}

std::string AxiomResolver::kind_of(const Phrase& phrase) const {
  if (is_formula(phrase)) return "a formula";
  if (phrase.kind != PhraseKind::Name) return "a relation";
  const std::string_view name = phrase.token.text;
  if (const Variable* variable = find_variable(name))
    return fmt::format("'{}', a {}", name, name_of(variable->sort));
  if (find_word(kRelationWords, name) != nullptr || lets_.count(name) != 0)
    return fmt::format("the relation '{}'", name);
  return fmt::format("'{}'", name);
}

std::optional<Error> AxiomResolver::misplaced_application(const Phrase& phrase) const {
  for (std::size_t i = 0; i < phrase.parts.size(); ++i) {
    if (phrase.parts[i]->kind != PhraseKind::Apply || called_let(*phrase.parts[i]) != nullptr)
      continue;
    return Error{.where = phrase.token.place,
                 .what = fmt::format("'{}' joins relations, but its {} side is a formula",
                                     phrase.token.text, i == 0 ? "left" : "right"),
                 .hint = "put the whole relation into parentheses: (so | wr)(t1, t2)"};
  }
  return std::nullopt;
}

Error AxiomResolver::not_a_formula(const Phrase& phrase) const {
  if (phrase.kind == PhraseKind::Binary) {
    if (auto misplaced = misplaced_application(phrase)) return *misplaced;
  }
  if (phrase.kind == PhraseKind::Name && !is_reserved(phrase.token.text) &&
      find_variable(phrase.token.text) == nullptr && lets_.count(phrase.token.text) == 0)
    return unknown_relation(phrase.token);
  const bool is_variable =
      phrase.kind == PhraseKind::Name && find_variable(phrase.token.text) != nullptr;
  return Error{.where = phrase.begin,
               .what = fmt::format("expected a formula, found {}", kind_of(phrase)),
               .hint = is_variable ? "say something about it: t1 != t2, writes(t1, x)"
                                   : "say what holds of the relation: r(t1, t2), empty(r), "
                                     "r subset s"};
}

Error AxiomResolver::not_a_relation(const Phrase& phrase) const {
  return Error{.where = phrase.begin,
               .what = fmt::format("expected a relation, found {}", kind_of(phrase)),
               .hint = ""};
}

Error AxiomResolver::unknown_relation(const Token& name) const {
  std::vector<std::string_view> known;
  for (const auto& word : kRelationWords) {
    if (!is_foreign(word.meaning, framework_)) known.push_back(word.text);
  }
  for (const auto& [parameter, argument] : arguments_) known.push_back(parameter);
  for (const auto& [let, declaration] : lets_) known.push_back(let);
  return Error{.where = name.place,
               .what = fmt::format("unknown relation '{}'", name.text),
               .hint = suggest(name.text, known)};
}

Error AxiomResolver::wrong_witness(const Token& name) const {
  std::string hint;
  switch (framework_) {
    case Framework::Co:
      hint = name.is("snap")
                 ? "its order is co; to speak of snapshots declare the level 'over co, snap'"
                 : "its order is co; to speak of vis and ar declare the level 'over vis, ar'";
      break;
    case Framework::VisAr:
      hint = name.is("snap")
                 ? "its orders are vis and ar; to speak of snapshots declare the level "
                   "'over co, snap'"
                 : "its orders are vis and ar; to speak of co declare the level 'over co'";
      break;
    case Framework::CoSnap:
      hint =
          "it has co, and snap instead of vis; to speak of vis and ar declare the level "
          "'over vis, ar'";
      break;
  }
  return Error{
      .where = name.place,
      .what = fmt::format("a level over {} knows no '{}'", orders_of(framework_), name.text),
      .hint = std::move(hint)};
}

}  // namespace isoscope
