// Row sets, on symbols: the hidden variables through which outer joins, groups, WITH, RETURNING of
// many rows and functions that return rows go (sql/statement.h).
//
// Which rows a set can have is known as long as each was put there by a statement that gives at
// most one; then a query over it is exact. What loops put there for every round, and what a query
// of many rows gives, is not: any number of rows with any values. That says less than the program
// does, never more: what was read of the database to fill the set is written down where it
// happens, and values are free to be those of the program.
#include <algorithm>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {

namespace {

constexpr std::size_t kMaxKnownRows = 4;  // rounds of a loop over them cost as much as its body

}  // namespace

// How many rows, and which, is not known.
void SymbolicRun::forget_rows(sql::VarId rows) {
  Variable& variable = env_[rows.index];
  variable.array = symbols_.fresh_array("rows");
  variable.value = symbols_.fresh_value("rows", false);
  variable.rows = nullptr;
  instance_.facts.push_back(symbols_.smt().number(0) <= variable.array->size);
}

// A path that is left may be taken up again behind a block or loop, where the array must be as it
// was.
void SymbolicRun::set_array(Variable& variable, SymArray array, SymValue value) {
  variable.rows = nullptr;
  if (loop_frames_.empty()) {
    variable.array = array;
    variable.value = value;
    return;
  }
  const SymArray old = *variable.array;
  SymArray either = symbols_.fresh_array("either");
  instance_.facts.push_back(equals(either.size, choose(alive_, array.size, old.size)));
  for (const std::int64_t i : {1, 2}) {
    const SmtTerm index = symbols_.smt().number(i);
    if (loops_ == Loops::AtMostTwo)
      instance_.facts.push_back(
          equals(either.element(index), choose(alive_, array.element(index), old.element(index))));
  }
  variable.array = either;
  variable.value = symbols_.choose_value(alive_, value, variable.value);
}

void SymbolicRun::clear_rows(sql::VarId rows) {
  Variable& variable = env_[rows.index];
  SymArray empty = symbols_.fresh_array("rows");
  instance_.facts.push_back(equals(empty.size, symbols_.smt().number(0)));
  set_array(variable, empty, symbols_.fresh_value("rows", false));
  // The front end empties a set right before the statement that fills and uses it: where this is
  // not reached, nobody asks what it had.
  variable.rows = std::make_shared<const KnownRows>(KnownRows{++num_sets_, {}});
}

void SymbolicRun::append_row(sql::VarId rows, SmtTerm is_there, std::vector<SymValue> values) {
  Variable& variable = env_[rows.index];
  const SymArray old = *variable.array;
  const auto known = variable.rows;
  forget_rows(rows);
  const SmtTerm one = symbols_.smt().number(1);
  instance_.facts.push_back(
      equals(variable.array->size, choose(is_there, old.size + one, old.size)));
  if (!known || known->rows.size() >= kMaxKnownRows) return;
  KnownRows longer = *known;
  longer.rows.push_back({is_there, std::move(values)});
  variable.rows = std::make_shared<const KnownRows>(std::move(longer));
}

// Rows that were added on either side are there only if that side was taken, by their conditions.
std::shared_ptr<const KnownRows> SymbolicRun::merge_rows(const Variable& yes, const Variable& no) {
  if (yes.rows == no.rows) return yes.rows;
  if (!yes.rows || !no.rows || yes.rows->origin != no.rows->origin) return nullptr;
  const std::vector<KnownRow>& a = yes.rows->rows;
  const std::vector<KnownRow>& b = no.rows->rows;
  const auto is_same = [](const KnownRow& x, const KnownRow& y) {
    return x.is_there.index == y.is_there.index &&
           std::ranges::equal(x.values, y.values, [](const SymValue& v, const SymValue& w) {
             return v.null.index == w.null.index && v.number.index == w.number.index;
           });
  };
  const auto [in_a, in_b] = std::ranges::mismatch(a, b, is_same);
  KnownRows merged{yes.rows->origin, a};
  merged.rows.insert(merged.rows.end(), in_b, b.end());
  if (merged.rows.size() > kMaxKnownRows) return nullptr;
  (void)in_a;
  return std::make_shared<const KnownRows>(std::move(merged));
}

SymValue SymbolicRun::unknown_value(sql::VarId var) {
  SymValue value = symbols_.fresh_value("of_rows", true);
  if (function_.variables[var.index].type == sql::Type::Boolean) {
    instance_.facts.push_back(symbols_.smt().number(0) <= value.number &&
                              value.number <= symbols_.smt().number(1));
  }
  return value;
}

std::optional<std::vector<KnownRow>> SymbolicRun::rows_of_set(const sql::Query& query) {
  const auto known = env_[query.rows->index].rows;
  if (!known) return std::nullopt;
  const Window window = window_of(query);
  const bool is_cut = !window.is_whole || !query.distinct_on.empty();
  std::vector<KnownRow> rows;
  for (const KnownRow& row : known->rows) {
    const Frame at = here().with({Source{{}, {}, row.values}});
    SmtTerm is_there = row.is_there && terms_.is_true(query.where, at);
    // What LIMIT and DISTINCT leave depends on the other rows.
    if (is_cut) is_there = is_there && symbols_.fresh_truth("within_limit");
    rows.push_back({is_there, row.values});
  }
  return rows;
}

// A query over a row set: any values, where its rows are not known.
void SymbolicRun::select_rows(const sql::Select& select) {
  const sql::Query& query = select.query;
  const auto rows = rows_of_set(query);
  const bool is_plain = rows && !query.group_by && !query.is_aggregate();
  // Which row is the first one is known if there is no other, or nobody orders them.
  const bool is_ordered = is_plain && (query.order_by.empty() || rows->size() < 2);
  const auto output = [&](const KnownRow& row, std::size_t i) {
    return terms_.eval(query.outputs[i].expr, here().with({Source{{}, {}, row.values}}));
  };
  if (select.into_rows) {
    if (!is_ordered) return forget_rows(*select.into_rows);
    clear_rows(*select.into_rows);
    for (const KnownRow& row : *rows) {
      std::vector<SymValue> values;
      for (std::size_t i = 0; i < query.outputs.size(); ++i) values.push_back(output(row, i));
      append_row(*select.into_rows, alive_ && row.is_there, std::move(values));
    }
    return;
  }
  SmtTerm found = symbols_.fresh_truth("found");
  if (is_plain) {
    std::vector<SmtTerm> any;
    for (const KnownRow& row : *rows) any.push_back(row.is_there);
    found = symbols_.any(any);
  }
  if (select.strict) abort_if(alive_ && !found);
  for (std::size_t t = 0; t < select.targets.size(); ++t) {
    const sql::VarId target = select.targets[t];
    Variable& variable = env_[target.index];
    if (variable.array) {
      forget_rows(target);
      continue;
    }
    SymValue value = unknown_value(target);
    if (select.exists) {
      value = symbols_.truth(found);
    } else if (is_ordered && t < query.outputs.size()) {
      value = symbols_.null();
      for (auto row = rows->rbegin(); row != rows->rend(); ++row)
        value = symbols_.choose_value(row->is_there, output(*row, t), value);
    }
    variable.value = symbols_.choose_value(alive_, value, variable.value);
  }
  if (!select.in_expression) set_found(found);
}

// A query of the database into a row set. Two rows stand for many: one for each edge of a call.
void SymbolicRun::select_into_rows(const sql::Statement& statement, const sql::Select& into) {
  const sql::VarId rows = *into.into_rows;
  const sql::Query& query = into.query;
  if (query.is_aggregate()) {
    Aggregated made = aggregate(statement);
    clear_rows(rows);
    append_row(rows, alive_ && made.is_returned, std::move(made.values));
    return;
  }
  const Selection selection = select(statement, query, 2);
  const bool is_known = plan(query.sources, query.where).is_fixed ||
                        (loops_ == Loops::AtMostTwo && query.order_by.empty());
  if (!is_known) return forget_rows(rows);
  clear_rows(rows);
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    const Frame at = selection.frame.with(selection.rows[i]);
    std::vector<SymValue> values;
    for (const sql::Output& output : query.outputs) values.push_back(terms_.eval(output.expr, at));
    append_row(rows, selection.found[i], std::move(values));
  }
}

std::optional<std::vector<SymbolicRun::Round>> SymbolicRun::rounds_of_set(
    const sql::ForQuery& loop) {
  const sql::Query& query = loop.query;
  const auto rows = rows_of_set(query);
  const bool is_aggregate = query.group_by || query.is_aggregate();
  if (!rows || is_aggregate || (!query.order_by.empty() && rows->size() > 1)) return std::nullopt;
  std::vector<Round> rounds;
  for (const KnownRow& row : *rows) {
    Round round{alive_ && row.is_there, {}};
    const Frame at = here().with({Source{{}, {}, row.values}});
    for (std::size_t t = 0; t < loop.targets.size() && t < query.outputs.size(); ++t)
      round.targets.emplace_back(loop.targets[t], terms_.eval(query.outputs[t].expr, at));
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace isoscope::audit
