#include "audit/closed_world.h"

#include <algorithm>
#include <set>

#include "support/stopwatch.h"

namespace isoscope::audit {

namespace {

constexpr SmtLimits kClosedQuestion{.steps = 40'000'000};
constexpr std::int64_t kSmall = 20;
constexpr std::int64_t kRoomFrom = 50;
constexpr std::int64_t kRoomTo = 100;

// Digits behind the point of a numeric in a run: few, and cents where any number is allowed.
std::uint8_t scale_of(const sql::Width& width) {
  constexpr std::uint8_t kCents = 2;
  constexpr std::uint8_t kMost = 6;
  return width.bits == sql::kAnyScale ? kCents : std::min(width.bits, kMost);
}

std::int64_t unit_of(const sql::Width& width) {
  std::int64_t unit = 1;
  for (int i = 0; i < scale_of(width); ++i) unit *= 10;
  return unit;
}

}  // namespace

ClosedWorld::ClosedWorld(const Problem& problem, std::span<const sql::FunctionId> cycle,
                         std::span<const sql::FunctionId> prefix, Budget& budget)
    : problem_(problem),
      changes_(problem.app),
      smt_(numbers_of(problem.app)),
      symbols_(smt_, problem.app, changes_, false),
      world_(symbols_, Scope::Closed, rules_of(problem)),
      axioms_(world_, problem.levels),
      layers_(smt_) {
  const Stopwatch start;
  smt_.stop_with(budget);
  std::map<sql::FunctionId, std::size_t> count;
  for (const sql::FunctionId f : prefix) prefix_.push_back(world_.member(f, count[f]++));
  for (const sql::FunctionId f : cycle) cycle_.push_back(world_.member(f, count[f]++));
  cast_ = prefix_;
  cast_.insert(cast_.end(), cycle_.begin(), cycle_.end());
  for (const auto& formulas : {world_.constraints(cast_), axioms_.constraints(cast_)}) {
    for (const SmtTerm formula : formulas) layers_.add(formula);
  }
  for (const Member p : prefix_) {
    for (const Member other : prefix_) {
      if (p != other) layers_.add(iff(world_.ar(p, other), world_.always_sees(p, other)));
    }
    for (const Member c : cycle_) layers_.add(world_.always_sees(p, c));
  }
  for (std::size_t i = 0; i < cycle_.size(); ++i)
    layers_.add(world_.depends(cycle_[i], cycle_[(i + 1) % cycle_.size()]));
  for (const SmtTerm formula : world_.closing(cast_, problem.rows_at_start ? nullptr : &empty_))
    layers_.add(formula);
  for (const Member member : cast_) {
    const sql::Function& function = problem_.app.function(world_.function(member));
    const auto& parameters = world_.instance(member).parameters;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (!parameters[p].array)
        layers_.add(symbols_.is_label(function.variables[p].width, parameters[p].value));
    }
  }
  for (const SmtTerm formula : digits_of_values()) layers_.add(formula);
  // In this order, as arguments may be what is drawn; the last are given up first.
  std::vector<std::vector<SmtTerm>> wanted;
  if (auto as_drawn = numbers_drawn(); !as_drawn.empty()) wanted.push_back(std::move(as_drawn));
  wanted.push_back(small_arguments());
  wanted.push_back(room_at_start());
  for (const auto& formulas : wanted) {
    wishes_.push_back(smt_.new_constant("wish", SmtSolver::kBool));
    for (const SmtTerm formula : formulas) layers_.add(implies(wishes_.back(), formula));
  }
  effort_.building_seconds = start.seconds();
}

std::int64_t ClosedWorld::first_fresh(Member member) const {
  return kFreshPerCall * (1 + std::ranges::find(cast_, member) - cast_.begin());
}

std::vector<SmtTerm> ClosedWorld::numbers_drawn() {
  std::vector<SmtTerm> formulas;
  for (const Member member : cast_) {
    std::int64_t next = first_fresh(member);
    for (const auto& [of, value] : world_.instance(member).fresh_values) {
      drawn_.push_back(next++);
      formulas.push_back(equals(value, smt_.number(drawn_.back())));
    }
  }
  return formulas;
}

std::vector<SmtTerm> ClosedWorld::small_arguments() {
  std::vector<SmtTerm> formulas;
  const auto is_small = [&](SmtTerm number) {
    SmtTerm is_nice = smt_.number(1) <= number && number <= smt_.number(kSmall);
    for (const std::int64_t drawn : drawn_) is_nice = is_nice || equals(number, smt_.number(drawn));
    formulas.push_back(is_nice);
  };
  for (const Member member : cast_) {
    const sql::Function& function = problem_.app.function(world_.function(member));
    const Instance& instance = world_.instance(member);
    std::optional<SmtTerm> size;  // all arrays of a call have the same
    for (std::size_t p = 0; p < instance.parameters.size(); ++p) {
      const Parameter& parameter = instance.parameters[p];
      if (parameter.array) {
        formulas.push_back(smt_.number(1) <= parameter.array->size);
        if (size) formulas.push_back(equals(*size, parameter.array->size));
        size = parameter.array->size;
        for (const std::int64_t i : {1, 2}) is_small(parameter.array->element(smt_.number(i)));
        continue;
      }
      formulas.push_back(!parameter.value.null);
      const sql::Variable& declared = function.variables[p];
      if (declared.type != sql::Type::Boolean && declared.width.labels == nullptr)
        is_small(parameter.value.number);
    }
  }
  return formulas;
}

// Whole numbers are whole, and numerics have no more digits than their columns show. Only in
// searches for runs: a run is executed afterwards, and a proof is not about some values.
std::vector<SmtTerm> ClosedWorld::digits_of_values() {
  std::vector<SmtTerm> formulas;
  if (!smt_.has_real_numbers()) return formulas;
  const auto add = [&](SmtTerm number, sql::Type type, const sql::Width& width) {
    const bool is_numeric = type == sql::Type::Numeric;
    formulas.push_back(smt_.is_whole(is_numeric ? unit_of(width) * number : number));
  };
  for (const Member member : cast_) {
    const sql::Function& function = problem_.app.function(world_.function(member));
    const auto& parameters = world_.instance(member).parameters;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const sql::Variable& declared = function.variables[p];
      if (!parameters[p].array) {
        add(parameters[p].value.number, declared.type, declared.width);
        continue;
      }
      formulas.push_back(smt_.is_whole(parameters[p].array->size));
      for (const std::int64_t i : {1, 2})
        add(parameters[p].array->element(smt_.number(i)), declared.type, declared.width);
    }
  }
  for (std::uint32_t t = 0; t < problem_.app.tables.size(); ++t) {
    const auto& columns = problem_.app.tables[t].columns;
    for (const Row& row : world_.rows(cast_, sql::TableId{t})) {
      for (const sql::ColumnId c : columns.ids())
        add(symbols_.value_at_start(sql::TableId{t}, c, row).number, columns[c].type,
            columns[c].width);
    }
  }
  return formulas;
}

std::vector<SmtTerm> ClosedWorld::room_at_start() {
  std::vector<SmtTerm> formulas;
  for (const Member member : cast_) {
    for (const Instance::Use& use : world_.instance(member).uses()) {
      if (!use.attribute.is_column()) continue;
      const sql::ColumnId column = use.attribute.column();
      const sql::Type type = problem_.app.table(use.table).columns[column].type;
      if (type != sql::Type::Integer && type != sql::Type::Numeric) continue;
      const SymValue initial = symbols_.initial_value(use.table, column, use.row);
      formulas.push_back(smt_.number(kRoomFrom) <= initial.number &&
                         initial.number <= smt_.number(kRoomTo));
    }
  }
  return formulas;
}

SmtResult ClosedWorld::find(Budget& budget) {
  const Stopwatch start;
  std::vector<SmtTerm> assumptions;
  std::vector<sql::TableId> tables;
  for (const auto& [table, term] : empty_) {
    assumptions.push_back(term);
    tables.push_back(sql::TableId{table});
  }
  // Wishes that are to blame are given up; what remains to blame are tables.
  std::vector<SmtTerm> wishes = wishes_;
  SmtResult result = SmtResult::Unknown;
  for (;;) {
    std::vector<SmtTerm> all = assumptions;
    all.insert(all.end(), wishes.begin(), wishes.end());
    result = layers_.check(all, kClosedQuestion, budget);
    if (result != SmtResult::Unsat) break;
    std::optional<std::size_t> blamed_wish;
    for (const std::size_t i : layers_.core()) {
      if (i >= assumptions.size()) blamed_wish = std::max(blamed_wish.value_or(0), i);
    }
    if (!blamed_wish) break;
    wishes.erase(wishes.begin() + static_cast<std::ptrdiff_t>(*blamed_wish - assumptions.size()));
  }
  blamed_.clear();
  if (result == SmtResult::Unsat) {
    for (const std::size_t i : layers_.core()) {
      if (i < tables.size()) blamed_.push_back(tables[i]);
    }
  }
  effort_.solving_seconds += start.seconds();
  ++effort_.questions;
  return result;
}

sql::Value ClosedWorld::value_of(const SymValue& value, sql::Type type, const sql::Width& width) {
  if (layers_.holds(value.null)) return sql::Value();
  if (type == sql::Type::Numeric) {
    const sql::Decimal found{layers_.number(unit_of(width) * value.number), scale_of(width)};
    // A column shows all its digits.
    const int scale = width.bits == sql::kAnyScale ? found.scale : width.bits;
    return sql::Value(sql::rounded(found, scale).value_or(found));
  }
  const std::int64_t number = layers_.number(value.number);
  switch (type) {
    case sql::Type::Integer: return sql::Value(number);
    case sql::Type::Boolean: return sql::Value(number != 0);
    case sql::Type::Text: return sql::Value(symbols_.text_of(number));
    case sql::Type::Numeric: break;  // above
  }
  return sql::Value();
}

void ClosedWorld::add_rows(Scenario& scenario) {
  for (std::uint32_t t = 0; t < problem_.app.tables.size(); ++t) {
    const sql::TableId table{t};
    const sql::Table& declared = problem_.app.tables[t];
    std::set<std::vector<sql::Value>> known;
    for (const Row& row : world_.rows(cast_, table)) {
      std::vector<sql::Value> key;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const sql::Column& column = declared.columns[declared.primary_key[i]];
        key.push_back(value_of({symbols_.no(), row[i]}, column.type, column.width));
      }
      const SmtTerm present = symbols_.present_at_start(table, row);
      if (known.contains(key) || !layers_.holds(present)) continue;
      if (!problem_.rows_at_start && changes_.has_inserts(table)) continue;
      known.insert(key);
      sql::InitialRow initial{table, {}, {}};
      for (const sql::ColumnId c : declared.columns.ids()) {
        const SymValue value = symbols_.value_at_start(table, c, row);
        initial.values.push_back(
            value_of(value, declared.columns[c].type, declared.columns[c].width));
      }
      scenario.rows.push_back(std::move(initial));
    }
  }
}

Scenario ClosedWorld::scenario() {
  Scenario scenario;
  add_rows(scenario);
  std::vector<Member> order = cast_;
  const auto is_before = [&](Member a, Member b) {
    return a != b && layers_.holds(world_.ar(a, b));
  };
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(prefix_.size());
  std::sort(order.begin(), middle, is_before);
  scenario.prefix = prefix_.size();
  for (const Member member : order) {
    const Instance& instance = world_.instance(member);
    const sql::Function& function = problem_.app.function(world_.function(member));
    ScenarioCall call{world_.function(member), {}, first_fresh(member)};
    for (std::size_t p = 0; p < instance.parameters.size(); ++p) {
      const Parameter& parameter = instance.parameters[p];
      const sql::Type type = function.variables[p].type;
      const sql::Width& width = function.variables[p].width;
      if (!parameter.array) {
        call.arguments.push_back(value_of(parameter.value, type, width));
        continue;
      }
      std::vector<sql::Value> elements;
      const std::int64_t size = layers_.number(parameter.array->size);
      for (std::int64_t i = 1; i <= size; ++i)
        elements.push_back(
            value_of({symbols_.no(), parameter.array->element(smt_.number(i))}, type, width));
      call.arguments.push_back(sql::Value(std::move(elements)));
    }
    scenario.calls.push_back(std::move(call));
  }
  for (const ScenarioCallId call : scenario.calls.ids()) scenario.ar.push_back(call);
  std::sort(scenario.ar.begin() + static_cast<std::ptrdiff_t>(prefix_.size()), scenario.ar.end(),
            [&](ScenarioCallId i, ScenarioCallId j) {
              return is_before(order[i.index], order[j.index]);
            });
  for (const Member member : order) {
    ById<ScenarioCallId, bool> sees;
    for (const Member other : order)
      sees.push_back(other != member && layers_.holds(world_.always_sees(other, member)));
    scenario.sees.push_back(std::move(sees));
    // At each moment that it comes to: snapshots are beginnings of ar.
    std::vector<std::size_t> snapshots;
    const auto& moments = world_.instance(member).moments;
    for (const MomentId at : moments.ids()) {
      if (!layers_.holds(moments[at])) continue;
      snapshots.push_back(static_cast<std::size_t>(std::ranges::count_if(order, [&](Member other) {
        return other != member && layers_.holds(world_.sees(other, member, at));
      })));
    }
    scenario.snapshots.push_back(std::move(snapshots));
  }
  return scenario;
}

Kinds ClosedWorld::kinds() {
  Kinds kinds;
  for (std::size_t i = 0; i < cycle_.size(); ++i) {
    EdgeKind found = EdgeKind::Ww;
    for (const EdgeKind kind : {EdgeKind::Rw, EdgeKind::Wr, EdgeKind::Ww}) {
      if (layers_.holds(world_.depends(cycle_[i], cycle_[(i + 1) % cycle_.size()], kind))) {
        found = kind;
        break;
      }
    }
    kinds.push_back(found);
  }
  return kinds;
}

void ClosedWorld::exclude_kinds(const Kinds& kinds) {
  std::vector<SmtTerm> same;
  for (std::size_t i = 0; i < cycle_.size(); ++i)
    same.push_back(world_.depends(cycle_[i], cycle_[(i + 1) % cycle_.size()], kinds[i]));
  layers_.add(!symbols_.all(same));
}

// vis and ar as the model has them.
std::vector<SmtTerm> ClosedWorld::shape() {
  std::vector<SmtTerm> same;
  const auto pin = [&](SmtTerm formula) {
    same.push_back(layers_.holds(formula) ? formula : !formula);
  };
  for (const Member a : cast_) {
    for (const Member b : cast_) {
      if (a == b) continue;
      if (a < b) pin(world_.ar(a, b));
      if (!world_.has_moments(b)) pin(world_.vis(a, b));
      for (const MomentId at : world_.instance(b).moments.ids()) pin(world_.sees(a, b, at));
    }
  }
  return same;
}

void ClosedWorld::exclude_shape() { layers_.add(!symbols_.all(shape())); }

// The same visibility and arbitration with the same arguments gives the same run; other arguments
// may not.
void ClosedWorld::exclude_model() {
  std::vector<SmtTerm> same = shape();
  const auto pin = [&](SmtTerm number) {
    same.push_back(equals(number, smt_.number(layers_.number(number))));
  };
  for (const Member a : cast_) {
    for (const Parameter& parameter : world_.instance(a).parameters) {
      if (parameter.array) {
        pin(parameter.array->size);
        for (const std::int64_t i : {1, 2}) pin(parameter.array->element(smt_.number(i)));
        continue;
      }
      const bool is_null = layers_.holds(parameter.value.null);
      same.push_back(is_null ? parameter.value.null : !parameter.value.null);
      if (!is_null) pin(parameter.value.number);
    }
  }
  layers_.add(!symbols_.all(same));
}

}  // namespace isoscope::audit
