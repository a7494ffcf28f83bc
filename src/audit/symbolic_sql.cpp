// Statements that touch the database, on symbols: what a query puts into variables.
#include <algorithm>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {

void SymbolicRun::select_into(const sql::Statement& statement, const sql::Select& into) {
  const sql::Query& query = into.query;
  const Selection selection = select(statement, query, 1);
  const SmtTerm found = selection.found.front();
  const Frame at = selection.frame.with(selection.rows.front());
  // ORDER BY … LIMIT 1 over one table: no row comes before the one that is picked.
  if (!query.order_by.empty() && !query.offset && selection.matches && query.sources.size() == 1) {
    const sql::OrderBy& order = query.order_by.front();
    const SymValue best = terms_.eval(order.expr, selection.search.with(selection.rows.front()));
    const RowExpr value{&order.expr, selection.search.with({Source{query.sources.front(), {}}})};
    Conditions& conditions = instance_.conditions;
    const ConditionId is_picked = conditions.add(condition::Always{found});
    instance_.row_facts.push_back(
        {query.sources.front(),
         conditions.add(condition::Implies{
             conditions.all({is_picked, *selection.matches}),
             conditions.add(condition::NotBefore{value, best, order.descending})})});
  }
  if (into.strict) {
    abort_if(alive_ && !found);
  }
  const SmtTerm alive = alive_;
  if (into.exists) {
    env_[into.targets.front().index].value =
        symbols_.choose_value(alive, symbols_.truth(found), env_[into.targets.front().index].value);
  } else {
    for (std::size_t i = 0; i < into.targets.size() && i < query.outputs.size(); ++i) {
      SymValue value =
          symbols_.choose_value(found, terms_.eval(query.outputs[i].expr, at), symbols_.null());
      Variable& target = env_[into.targets[i].index];
      if (target.array) forget_rows(into.targets[i]);
      target.value = symbols_.choose_value(alive, value, target.value);
    }
  }
  if (!into.in_expression) set_found(found);
}

// No matching row is beyond a minimum or maximum; and with one output, rows beyond it do not matter
// to the accesses of the statement, which begin at `first`.
void SymbolicRun::bound_extreme(const sql::Query& query, const sql::Output& output,
                                const Selection& selection, const SymValue& best,
                                std::size_t first) {
  const bool is_min = output.aggregate == sql::Aggregate::Min;
  const sql::TableId table = query.sources.front();
  const RowExpr value{&output.expr, selection.frame.with({Source{table, {}}})};
  Conditions& conditions = instance_.conditions;
  const ConditionId alive = conditions.add(condition::Always{alive_});
  instance_.row_facts.push_back(
      {table, conditions.add(
                  condition::Implies{conditions.all({alive, *selection.matches}),
                                     conditions.add(condition::NotBeyond{value, best, is_min})})});
  const bool is_of_key = output.expr.op == sql::ExprOp::Column &&
                         symbols_.app().table(table).is_key_column(output.expr.column);
  if (query.outputs.size() != 1 || !is_of_key) return;
  for (std::size_t a = first; a < instance_.accesses.size(); ++a) {
    Access& access = instance_.accesses[a];
    if (access.row) continue;
    access.condition = conditions.add(condition::UpTo{access.condition, value, best, is_min});
  }
}

SymValue SymbolicRun::aggregate_of_rows(const sql::Output& output, const Selection& selection,
                                        bool is_single_row) {
  SmtSolver& smt = symbols_.smt();
  const SmtTerm found = selection.found.front();
  SymValue value = symbols_.fresh_value("aggregate", false);
  const SymValue picked = terms_.eval(output.expr, selection.frame.with(selection.rows.front()));
  switch (output.aggregate) {
    case sql::Aggregate::Count:
      instance_.facts.push_back(smt.number(0) <= value.number);
      instance_.facts.push_back(implies(smt.number(1) <= value.number, found));
      // Values that are NULL do not count.
      if (output.expr.op == sql::ExprOp::Null)
        instance_.facts.push_back(implies(found, smt.number(1) <= value.number));
      if (is_single_row) instance_.facts.push_back(value.number <= smt.number(1));
      break;
    case sql::Aggregate::Min:
    case sql::Aggregate::Max:
      value = {!found || picked.null, picked.number};
      break;
    case sql::Aggregate::Array:
    case sql::Aggregate::Other:  // any value
      value.null = symbols_.fresh_truth("other_is_null");
      break;
    case sql::Aggregate::Sum:
    case sql::Aggregate::Avg:
    case sql::Aggregate::None:  // of one row the value itself, of many any number
      value.null = !found || symbols_.fresh_truth("sum_of_nulls");
      if (is_single_row) value = {!found || picked.null, picked.number};
      break;
  }
  return value;
}

SymbolicRun::Aggregated SymbolicRun::aggregate(const sql::Statement& statement) {
  const sql::Query& query = *statement.query();
  const std::size_t first = instance_.accesses.size();
  const Selection selection = select(statement, query, 1);
  const bool is_single_row = selection.matches && !instance_.accesses.empty() &&
                             this->plan(query.sources, query.where).is_fixed;
  const bool has_row = window_of(query).has_first;
  Aggregated made{has_row ? symbols_.yes() : symbols_.fresh_truth("within_limit"), {}};
  for (const sql::Output& output : query.outputs) {
    SymValue value = aggregate_of_rows(output, selection, is_single_row);
    const bool is_extreme =
        output.aggregate == sql::Aggregate::Min || output.aggregate == sql::Aggregate::Max;
    if (is_extreme && selection.matches && !is_single_row)
      bound_extreme(query, output, selection, value, first);
    if (!has_row) value = symbols_.choose_value(made.is_returned, value, symbols_.null());
    made.values.push_back(value);
  }
  return made;
}

void SymbolicRun::aggregate_into(const sql::Statement& statement, const sql::Select& into) {
  const SmtTerm alive = alive_;
  const Aggregated made = aggregate(statement);
  for (std::size_t i = 0; i < into.targets.size() && i < made.values.size(); ++i) {
    Variable& target = env_[into.targets[i].index];
    if (target.array) forget_rows(into.targets[i]);
    target.value = symbols_.choose_value(alive, made.values[i], target.value);
  }
  if (!into.in_expression) set_found(made.is_returned);
}

std::vector<SymbolicRun::Round> SymbolicRun::rounds_of(const sql::Statement& statement) {
  if (const auto* loop = statement.find<sql::ForQuery>()) return rounds_of_query(statement, *loop);
  if (statement.is<sql::While>()) return rounds_of_while();
  const Frame frame = here();
  const SmtTerm one = symbols_.smt().number(1);
  if (const auto* loop = statement.find<sql::ForArray>()) {
    const SymArray list = terms_.array(loop->array, frame);
    return rounds_of_numbers({.target = loop->target,
                              .from = symbols_.number(1),
                              .to = {symbols_.no(), list.size},
                              .width = one,
                              .list = list});
  }
  const auto& loop = statement.as<sql::ForRange>();
  Counting counting{.target = loop.target,
                    .from = terms_.eval(loop.from, frame),
                    .to = terms_.eval(loop.to, frame),
                    .width = one,
                    .descending = loop.descending};
  if (loop.descending) std::swap(counting.from, counting.to);
  if (loop.step) counting.width = terms_.eval(*loop.step, frame).number;
  return rounds_of_numbers(counting);
}

std::vector<SymbolicRun::Round> SymbolicRun::rounds_of_query(const sql::Statement& statement,
                                                             const sql::ForQuery& loop) {
  std::vector<Round> rounds;
  const sql::Query& query = loop.query;
  if (query.rows) {
    if (auto known = rounds_of_set(loop)) return *std::move(known);
    for (int i = 0; i < 2; ++i) {
      Round round{alive_ && symbols_.fresh_truth("round"), {}};
      if (i > 0 && loops_ != Loops::AnyTwo)
        instance_.facts.push_back(implies(round.active, rounds.front().active));
      for (const sql::VarId target : loop.targets)
        round.targets.emplace_back(target, unknown_value(target));
      rounds.push_back(std::move(round));
    }
    return rounds;
  }
  if (query.is_aggregate()) {  // one row
    const Aggregated made = aggregate(statement);
    Round round{alive_ && made.is_returned, {}};
    for (std::size_t t = 0; t < loop.targets.size() && t < made.values.size(); ++t)
      round.targets.emplace_back(loop.targets[t], made.values[t]);
    return {std::move(round)};
  }
  const Selection selection = select(statement, query, 2);
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    Round round{selection.found[i], {}};
    const Frame at = selection.frame.with(selection.rows[i]);
    for (std::size_t t = 0; t < loop.targets.size() && t < query.outputs.size(); ++t)
      round.targets.emplace_back(loop.targets[t], terms_.eval(query.outputs[t].expr, at));
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<SymbolicRun::Round> SymbolicRun::rounds_of_while() {
  std::vector<Round> rounds;
  for (int i = 0; i < 2; ++i)
    rounds.push_back(
        {loops_ == Loops::AnyTwo ? symbols_.fresh_truth("round") : symbols_.yes(), {}});
  return rounds;
}

std::vector<SymbolicRun::Round> SymbolicRun::rounds_of_numbers(const Counting& counting) {
  const auto& [target, from, to, width, descending, list] = counting;
  std::vector<Round> rounds;
  const bool is_any = loops_ == Loops::AnyTwo;
  SmtTerm last = from.number;
  for (int i = 0; i < 2; ++i) {
    SmtTerm number = from.number;
    if (is_any) {
      number = symbols_.fresh_number("i");
      if (i > 0) instance_.facts.push_back(descending ? number < last : last < number);
    } else if (i > 0) {
      number = descending ? last - width : last + width;
    } else if (descending) {
      number = to.number;
    }
    SmtTerm active = from.number <= number && number <= to.number && !from.null && !to.null;
    if (is_any) active = active && symbols_.fresh_truth("round");
    Round round{active, {}};
    const SymValue value =
        list ? terms_.element_of(*list, number) : SymValue{symbols_.no(), number};
    round.targets.emplace_back(target, value);
    rounds.push_back(std::move(round));
    last = number;
  }
  if (!is_any) {
    // A third round does not happen.
    instance_.facts.push_back(implies(alive_, symbols_.smt().number(1) <= width));
    instance_.facts.push_back(implies(alive_, to.number - from.number < width + width));
  }
  return rounds;
}

}  // namespace isoscope::audit
