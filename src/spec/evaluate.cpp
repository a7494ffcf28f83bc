#include "spec/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/conditions.h"
#include "spec/formula_values.h"
#include "support/assert.h"

namespace isoscope {

namespace {

bool mentions_reads(const RelationExpr& r) {
  return r.from == Sort::Read || r.to == Sort::Read ||
         (r.left != nullptr && mentions_reads(*r.left)) ||
         (r.right != nullptr && mentions_reads(*r.right));
}

bool mentions_reads(const Formula& f) {
  for (const Variable& variable : f.variables) {
    if (variable.sort == Sort::Read) return true;
  }
  return (f.relation != nullptr && mentions_reads(*f.relation)) ||
         (f.other != nullptr && mentions_reads(*f.other)) ||
         (f.left != nullptr && mentions_reads(*f.left)) ||
         (f.right != nullptr && mentions_reads(*f.right));
}

// The different levels of an assignment, the base first.
std::vector<const Level*> levels_of(const Assignment& levels) {
  std::vector<const Level*> all = {levels.base};
  for (const Level* own : levels.own) {
    if (own != nullptr && std::find(all.begin(), all.end(), own) == all.end()) all.push_back(own);
  }
  return all;
}

// An inherited axiom is the same axiom: they share the formula.
bool has_axiom(const Level& level, const Axiom& axiom) {
  return std::any_of(level.axioms.begin(), level.axioms.end(),
                     [&](const Axiom& own) { return own.formula == axiom.formula; });
}

// The axioms of an assignment, each once.
std::vector<const Axiom*> axioms_of(const std::vector<const Level*>& levels) {
  std::vector<const Axiom*> axioms;
  for (const Level* level : levels) {
    for (const Axiom& axiom : level->axioms) {
      const bool known = std::any_of(axioms.begin(), axioms.end(), [&](const Axiom* other) {
        return other->formula == axiom.formula;
      });
      if (!known) axioms.push_back(&axiom);
    }
  }
  return axioms;
}

std::string_view assignable_shape(Framework framework) {
  switch (framework) {
    case Framework::Co: return "'… wr[x](t1, t3) … implies co(t2, t1)'";
    case Framework::VisAr: return "'… implies vis(t1, t2)'";
    case Framework::CoSnap: return "'… implies snap(t, r)'";
  }
  return {};
}

// The reads that the axioms speak of.
FactTables::Reads reads_for(Framework framework, const std::vector<const Axiom*>& axioms) {
  if (framework == Framework::CoSnap) return FactTables::Reads::All;
  const bool some = std::any_of(axioms.begin(), axioms.end(),
                                [](const Axiom* a) { return mentions_reads(*a->formula); });
  return some ? FactTables::Reads::External : FactTables::Reads::None;
}

}  // namespace

Result<void> check_assignable(const Assignment& levels) {
  const auto all = levels_of(levels);
  if (all.size() == 1) return {};
  for (const Level* level : all) {
    if (level->is_wr_free)
      return Error{.what = fmt::format("level '{}' cannot be mixed with others: its co need not "
                                       "contain wr",
                                       level->name),
                   .hint = ""};
    if (level->framework != levels.base->framework)
      return Error{.what = fmt::format("{} and {} cannot be mixed: they speak of different orders",
                                       levels.base->full_name(), level->full_name()),
                   .hint = "take all levels over co, all over vis, ar or all over co, snap"};
    for (const Axiom& axiom : level->axioms) {
      if (axiom.subject) continue;
      return Error{
          .what = fmt::format("level '{}' cannot be mixed with others: its axiom '{}' is not about "
                              "what a single transaction sees",
                              level->name, axiom.name),
          .hint =
              fmt::format("an axiom over {} that can be assigned to a transaction has the shape "
                          "{}",
                          orders_of(level->framework), assignable_shape(level->framework))};
    }
  }
  return {};
}

struct Evaluator::State {
  State(const History& history, const Assignment& assignment, Budget* budget);

  // Checks what the framework demands, and makes the orders known to the relations.
  std::optional<Failure> enter(const Witness& witness);
  Relation least_vis(const std::vector<TxnId>& ar);
  Failure describe_failure(std::size_t axiom);
  bool is_expired() const { return budget != nullptr && budget->expired_now(); }

  const History& h;
  Budget* budget;
  Framework framework;
  std::vector<const Axiom*> axioms;
  FactTables facts;
  RelationValues relations;
  FormulaValues formulas;
  std::vector<int> numbers;  // of the axioms' formulas
  Conditions conditions;
};

Evaluator::State::State(const History& history, const Assignment& levels, Budget* limit)
    : h(history),
      budget(limit),
      framework(levels.base->framework),
      axioms(axioms_of(levels_of(levels))),
      facts(history, reads_for(framework, axioms)),
      relations(facts, limit),
      formulas(facts, relations, limit),
      conditions(history, levels) {
  const auto all = levels_of(levels);
  for (const Axiom* axiom : axioms) {
    numbers.push_back(formulas.add(*axiom->formula, axiom->slots));
    const auto has_it = [&](const Level* level) { return has_axiom(*level, *axiom); };
    if (std::all_of(all.begin(), all.end(), has_it)) continue;
    ISO_ASSERT(axiom->subject.has_value());
    std::vector<std::uint8_t> members(facts.size());
    for (std::uint32_t element : facts.elements(axiom->subject->sort)) {
      const TxnId t{axiom->subject->sort == Sort::Read ? facts.txn_of(element) : element};
      members[element] = has_it(&levels.of(t)) ? 1 : 0;
    }
    formulas.restrict_to(numbers.back(), *axiom->subject, std::move(members));
  }
}

Failure Evaluator::State::describe_failure(std::size_t i) {
  const auto name_element = [&](std::string name, Sort sort, std::size_t element) {
    const auto index = static_cast<std::uint32_t>(element);
    return Failure::Binding{std::move(name), sort,
                            sort == Sort::Read ? facts.event(index).index : index};
  };
  Failure failure{
      fmt::format("axiom {} of {}", axioms[i]->name, axioms[i]->level), axioms[i]->name, {}};
  for (const Variable& variable : formulas.variables(numbers[i])) {
    const std::uint32_t element = formulas.environment()[static_cast<std::size_t>(variable.slot)];
    failure.instance.push_back(name_element(variable.name, variable.sort, element));
  }
  if (const auto pair = formulas.offending_pair(numbers[i])) {
    failure.instance.push_back(name_element("from", pair->from_sort, pair->from));
    failure.instance.push_back(name_element("to", pair->to_sort, pair->to));
  }
  return failure;
}

Evaluator::Evaluator(const History& h, const Assignment& levels, Budget* budget)
    : state_(std::make_unique<State>(h, levels, budget)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

std::optional<Failure> Evaluator::State::enter(const Witness& witness) {
  if (auto failure = conditions.check_order(witness)) return failure;
  if (framework == Framework::Co) {
    relations.set_orders(witness.order, nullptr);
    return std::nullopt;
  }
  if (framework == Framework::VisAr && !witness.vis) {
    const Witness completed{framework, witness.order, least_vis(witness.order)};
    return enter(completed);
  }
  if (auto failure = conditions.check_views(witness)) return failure;
  if (framework == Framework::CoSnap) {
    relations.set_orders(witness.order, nullptr, &witness.snap);
  } else {
    relations.set_orders(witness.order, &*witness.vis);
  }
  return std::nullopt;
}

std::optional<Failure> Evaluator::evaluate(const Witness& witness) {
  const Failure expired{"", "", {}};
  auto failure = state_->enter(witness);
  if (state_->is_expired()) return expired;
  if (failure) return failure;
  for (std::size_t i = 0; i < state_->axioms.size(); ++i) {
    const bool fails = state_->formulas.find_failure(state_->numbers[i]);
    if (state_->is_expired()) return expired;
    if (fails) return state_->describe_failure(i);
  }
  return std::nullopt;
}

bool Evaluator::accepts(const Witness& witness) {
  if (state_->enter(witness)) return false;
  const bool holds = std::none_of(state_->numbers.begin(), state_->numbers.end(), [&](int number) {
    return state_->formulas.find_failure(number);
  });
  return holds && !state_->is_expired();
}

Relation Evaluator::least_vis(const std::vector<TxnId>& ar) { return state_->least_vis(ar); }

Relation Evaluator::State::least_vis(const std::vector<TxnId>& ar) {
  ISO_ASSERT(framework == Framework::VisAr);
  Relation vis = conditions.least_vis();
  for (bool grows = true; grows && !is_expired();) {
    grows = false;
    relations.set_orders(ar, &vis);
    for (std::size_t i = 0; i < axioms.size(); ++i) {
      if (!axioms[i]->subject) continue;
      const Formula& concluded = *rule_of(*axioms[i]->formula).conclusion;
      const auto element = [&](const Variable& v) {
        return formulas.environment()[static_cast<std::size_t>(v.slot)];
      };
      formulas.for_each_failure(numbers[i], [&] {
        vis.insert(element(*concluded.a), element(*concluded.b));
        grows = true;
      });
    }
  }
  return vis;
}

std::size_t evaluation_bytes(const History& h, const Assignment& levels) {
  const std::vector<const Axiom*> axioms = axioms_of(levels_of(levels));
  const bool has_reads = reads_for(levels.base->framework, axioms) != FactTables::Reads::None;
  const std::size_t elements = h.num_txns() + (has_reads ? h.num_events() : 0);
  return elements * elements / 8 * (h.num_keys() + 1);
}

std::optional<Failure> evaluate(const Assignment& levels, const Execution& e) {
  return Evaluator(e.h, levels).evaluate(e.witness);
}

std::string describe(const Failure& failure, const History& h) {
  std::string where;
  for (const auto& [name, sort, index] : failure.instance) {
    where += fmt::format("{}{} = ", where.empty() ? " for " : ", ", name);
    switch (sort) {
      case Sort::Txn: where += h.name(TxnId{index}); break;
      case Sort::Key: where += h.name(KeyId{index}); break;
      case Sort::Read: {
        const EventId e{index};
        where +=
            fmt::format("r({},{}) of {}", h.name(h.key(e)), h.show(h.value(e)), h.name(h.txn(e)));
        break;
      }
    }
  }
  return fmt::format("{} fails{}", failure.rule, where);
}

}  // namespace isoscope
