#include "audit/symbolic_select.h"

namespace isoscope::audit {

void SymbolicSelect::run(const sql::Select& select) {
  if (select.advisory) {
    take_advisory(select);
  } else if (select.draws) {
    draw(select);
  } else if (select.query.rows) {
    of_rows(select);
  } else if (select.into_rows) {
    into_rows(select.query, *select.into_rows);
  } else if (select.query.is_aggregate()) {
    aggregate_into(select);
  } else {
    into_variables(select);
  }
}

// Held to the end of the call. Whoever takes it later sees, from the next snapshot on, what the
// call did: at READ COMMITTED that of the next statement (world.cpp), with one snapshot none. One
// that is only tried is had (model_notes.h).
void SymbolicSelect::take_advisory(const sql::Select& select) {
  SmtTerm taken = call_.alive;
  Row numbers;
  for (const sql::Output& output : select.query.outputs) {
    const SymValue number = terms_.eval(output.expr, call_.here());
    taken = taken && !number.null;
    numbers.push_back(number.number);
  }
  call_.lock_numbers(select.advisory->is_shared ? sql::Lock::Share : sql::Lock::Update, taken,
                     std::move(numbers));
  if (!select.in_expression) call_.set_found(symbols_.yes());
  for (const sql::VarId target : select.targets) {
    const SymValue given = select.advisory->is_tried
                               ? SymValue{call_.alive && !taken, symbols_.smt().number(1)}
                               : symbols_.null();
    call_.assign(target, given);
  }
}

// No access: what it gives was never given before, and who gets which number is no dependency.
void SymbolicSelect::draw(const sql::Select& select) {
  const SymValue given = symbols_.fresh_value("nextval", false);
  instance_.fresh_values.emplace_back(sequence_key(*select.draws), given.number);
  if (!select.in_expression) call_.set_found(symbols_.yes());
  for (const sql::VarId target : select.targets) call_.assign(target, given);
}

void SymbolicSelect::put(sql::VarId target, const SymValue& value) {
  if (call_.env[target.index].array) variables_.forget_rows(target);
  call_.assign(target, value);
}

std::vector<SymValue> SymbolicSelect::outputs_of(const sql::Query& query, const Frame& at) {
  std::vector<SymValue> values;
  for (const sql::Output& output : query.outputs) values.push_back(terms_.eval(output.expr, at));
  return values;
}

void SymbolicSelect::into_variables(const sql::Select& into) {
  const sql::Query& query = into.query;
  const Selection selection = search_.select(query, 1);
  const SmtTerm found = selection.found.front();
  const Frame at = selection.frame.with(selection.rows.front());
  // ORDER BY … LIMIT 1 over one table: no row comes before the one that is picked.
  if (!query.order_by.empty() && !query.offset && selection.matches && query.sources.size() == 1) {
    const sql::OrderBy& order = query.order_by.front();
    const SymValue best = terms_.eval(order.expr, selection.search.with(selection.rows.front()));
    const RowExpr value{&order.expr, selection.search.with({Source{query.sources.front(), {}}})};
    add_row_fact(query.sources.front(), conditions_.all({always(found), *selection.matches}),
                 conditions_.add(condition::NotBefore{value, best, order.descending}));
  }
  if (into.strict) call_.abort_if(call_.alive && !found);
  if (into.exists) {
    call_.assign(into.targets.front(), symbols_.truth(found));
  } else {
    for (std::size_t i = 0; i < into.targets.size() && i < query.outputs.size(); ++i)
      put(into.targets[i],
          symbols_.choose_value(found, terms_.eval(query.outputs[i].expr, at), symbols_.null()));
  }
  if (!into.in_expression) call_.set_found(found);
}

void SymbolicSelect::bound_extreme(const sql::Query& query, const sql::Output& output,
                                   const Selection& selection, const SymValue& best,
                                   std::size_t first) {
  const bool is_min = output.aggregate == sql::Aggregate::Min;
  const sql::TableId table = query.sources.front();
  const RowExpr value{&output.expr, selection.frame.with({Source{table, {}}})};
  add_row_fact(table, conditions_.all({always(call_.alive), *selection.matches}),
               conditions_.add(condition::NotBeyond{value, best, is_min}));
  const bool is_of_key = output.expr.op == sql::ExprOp::Column &&
                         symbols_.app().table(table).is_key_column(output.expr.column);
  if (query.outputs.size() != 1 || !is_of_key) return;
  for (std::size_t a = first; a < instance_.accesses.size(); ++a) {
    Access& access = instance_.accesses[a];
    if (access.row) continue;
    access.condition = conditions_.add(condition::UpTo{access.condition, value, best, is_min});
  }
}

SymValue SymbolicSelect::aggregate_of_rows(const sql::Output& output, const Selection& selection,
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
    case sql::Aggregate::Max: value = {!found || picked.null, picked.number}; break;
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

SymbolicSelect::Aggregated SymbolicSelect::aggregate(const sql::Query& query) {
  const std::size_t first = instance_.accesses.size();
  const Selection selection = search_.select(query, 1);
  const bool is_single_row = selection.matches && !instance_.accesses.empty() && selection.is_fixed;
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

void SymbolicSelect::aggregate_into(const sql::Select& into) {
  const Aggregated made = aggregate(into.query);
  for (std::size_t i = 0; i < into.targets.size() && i < made.values.size(); ++i)
    put(into.targets[i], made.values[i]);
  if (!into.in_expression) call_.set_found(made.is_returned);
}

std::optional<std::vector<KnownRow>> SymbolicSelect::rows_of_set(const sql::Query& query) {
  const auto known = call_.env[query.rows->index].rows;
  if (!known) return std::nullopt;
  const Window window = window_of(query);
  const bool is_cut = !window.is_whole || !query.distinct_on.empty();
  std::vector<KnownRow> rows;
  for (const KnownRow& row : known->rows) {
    const Frame at = call_.here().with({Source{{}, {}, ColumnValues(row.values)}});
    SmtTerm is_there = row.is_there && terms_.is_true(query.where, at);
    // What LIMIT and DISTINCT leave depends on the other rows.
    if (is_cut) is_there = is_there && symbols_.fresh_truth("within_limit");
    rows.push_back({is_there, row.values});
  }
  return rows;
}

void SymbolicSelect::of_rows(const sql::Select& select) {
  const sql::Query& query = select.query;
  const auto rows = rows_of_set(query);
  const bool is_plain = rows && !query.group_by && !query.is_aggregate();
  // Which row is the first one is known if there is no other, or no ORDER BY.
  const bool is_ordered = is_plain && (query.order_by.empty() || rows->size() < 2);
  const auto at = [&](const KnownRow& row) {
    return call_.here().with({Source{{}, {}, ColumnValues(row.values)}});
  };
  if (select.into_rows) {
    if (!is_ordered) return variables_.forget_rows(*select.into_rows);
    variables_.clear_rows(*select.into_rows);
    for (const KnownRow& row : *rows) {
      std::vector<SymValue> values = outputs_of(query, at(row));
      variables_.append_row(*select.into_rows, call_.alive && row.is_there, std::move(values));
    }
    return;
  }
  SmtTerm found = symbols_.fresh_truth("found");
  if (is_plain) {
    std::vector<SmtTerm> any;
    for (const KnownRow& row : *rows) any.push_back(row.is_there);
    found = symbols_.any(any);
  }
  if (select.strict) call_.abort_if(call_.alive && !found);
  for (std::size_t t = 0; t < select.targets.size(); ++t) {
    const sql::VarId target = select.targets[t];
    if (call_.env[target.index].array) {
      variables_.forget_rows(target);
      continue;
    }
    SymValue value = variables_.any_value(target);
    if (select.exists) {
      value = symbols_.truth(found);
    } else if (is_ordered && t < query.outputs.size()) {
      value = symbols_.null();
      for (auto row = rows->rbegin(); row != rows->rend(); ++row)
        value = symbols_.choose_value(row->is_there, terms_.eval(query.outputs[t].expr, at(*row)),
                                      value);
    }
    call_.assign(target, value);
  }
  if (!select.in_expression) call_.set_found(found);
}

void SymbolicSelect::into_rows(const sql::Query& query, sql::VarId rows) {
  if (query.is_aggregate()) {
    Aggregated made = aggregate(query);
    variables_.clear_rows(rows);
    variables_.append_row(rows, call_.alive && made.is_returned, std::move(made.values));
    return;
  }
  const Selection selection = search_.select(query, 2);
  const bool is_known =
      selection.is_fixed || (call_.loops == Loops::AtMostTwo && query.order_by.empty());
  if (!is_known) return variables_.forget_rows(rows);
  variables_.clear_rows(rows);
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    std::vector<SymValue> values = outputs_of(query, selection.frame.with(selection.rows[i]));
    variables_.append_row(rows, selection.found[i], std::move(values));
  }
}

std::optional<std::vector<Round>> SymbolicSelect::rounds_of_set(const sql::ForQuery& loop) {
  const sql::Query& query = loop.query;
  const auto rows = rows_of_set(query);
  const bool is_aggregate = query.group_by || query.is_aggregate();
  if (!rows || is_aggregate || (!query.order_by.empty() && rows->size() > 1)) return std::nullopt;
  std::vector<Round> rounds;
  for (const KnownRow& row : *rows) {
    Round round{call_.alive && row.is_there, {}};
    const Frame at = call_.here().with({Source{{}, {}, ColumnValues(row.values)}});
    for (std::size_t t = 0; t < loop.targets.size() && t < query.outputs.size(); ++t)
      round.targets.emplace_back(loop.targets[t], terms_.eval(query.outputs[t].expr, at));
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<Round> SymbolicSelect::rounds_of(const sql::ForQuery& loop) {
  std::vector<Round> rounds;
  const sql::Query& query = loop.query;
  if (query.rows) {
    if (auto known = rounds_of_set(loop)) return *std::move(known);
    for (int i = 0; i < 2; ++i) {
      Round round{call_.alive && symbols_.fresh_truth("round"), {}};
      if (i > 0 && call_.loops != Loops::AnyTwo)
        instance_.facts.push_back(implies(round.active, rounds.front().active));
      for (const sql::VarId target : loop.targets)
        round.targets.emplace_back(target, variables_.any_value(target));
      rounds.push_back(std::move(round));
    }
    return rounds;
  }
  if (query.is_aggregate()) {  // one row
    const Aggregated made = aggregate(query);
    Round round{call_.alive && made.is_returned, {}};
    for (std::size_t t = 0; t < loop.targets.size() && t < made.values.size(); ++t)
      round.targets.emplace_back(loop.targets[t], made.values[t]);
    return {std::move(round)};
  }
  const Selection selection = search_.select(query, 2);
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    Round round{selection.found[i], {}};
    const Frame at = selection.frame.with(selection.rows[i]);
    for (std::size_t t = 0; t < loop.targets.size() && t < query.outputs.size(); ++t)
      round.targets.emplace_back(loop.targets[t], terms_.eval(query.outputs[t].expr, at));
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace isoscope::audit
