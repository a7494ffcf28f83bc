// Statements that touch the database, on symbols.
#include <algorithm>
#include <limits>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {

using sql::StatementOp;

namespace {

// What LIMIT, OFFSET and DISTINCT leave of the rows that match.
struct Window {
  bool is_whole = true;   // all
  bool has_first = true;  // at least one, if there is one
  std::size_t max_rows = std::numeric_limits<std::size_t>::max();
};

Window window_of(const sql::Query& query) {
  const auto is_null = [](const sql::Expr& expr) { return expr.op == sql::ExprOp::Null; };
  Window window;
  window.is_whole = !query.limit && !query.offset && !query.distinct;
  const auto& offset = query.offset;
  if (offset && !is_null(*offset))
    window.has_first = offset->op == sql::ExprOp::Integer && offset->number == 0;
  const auto& limit = query.limit;
  if (!limit || is_null(*limit)) return window;
  if (limit->op == sql::ExprOp::Integer && limit->number > 0) {
    window.max_rows = static_cast<std::size_t>(limit->number);
  } else {
    window.has_first = false;
  }
  return window;
}

}  // namespace

bool SymbolicRun::is_locking(const sql::Query& query) const {
  return per_statement_ && query.lock > sql::Lock::KeyShare && !query.is_aggregate();
}

SymbolicRun::Selection SymbolicRun::select(const sql::Statement& statement, const sql::Query& query,
                                           std::size_t num_rows) {
  const auto plan = std::make_shared<const Plan>(this->plan(query.sources, query.where));
  const Frame frame = here();
  const SmtTerm alive = alive_;
  const Frame now = current();
  const bool is_join = query.sources.size() > 1;
  const bool locks = is_locking(query);

  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const sql::Output& output : query.outputs) add_columns(output.expr, used);
  for (const sql::OrderBy& order : query.order_by) add_columns(order.expr, used);

  Selection selection;
  selection.frame = locks ? now : frame;
  selection.search = frame;
  const std::optional<sql::Expr>* where = &query.where;
  const auto met_at = [this, where](const std::vector<Source>& rows, const Frame& at) {
    std::vector<SmtTerm> parts;
    for (const Source& source : rows) parts.push_back(present_now(source.table, source.row, at));
    parts.push_back(is_true(*where, at.with(rows)));
    return symbols_.all(parts);
  };
  std::vector<std::function<SmtTerm(const Row&)>> still;
  for (const sql::TableId table : query.sources) {
    if (locks) still.push_back(still_there(table));
  }
  const auto found_at = [met_at, frame, now, still](const std::vector<Source>& rows) {
    SmtTerm found = met_at(rows, frame);
    for (std::size_t s = 0; s < still.size(); ++s) found = found && still[s](rows[s].row);
    return still.empty() ? found : found && met_at(rows, now);
  };
  const Window window = query.is_aggregate() ? Window{} : window_of(query);
  // The rows that it finds. Without a fixed key it finds some, free to be any that match.
  const std::size_t count = plan->is_fixed ? 1 : num_rows;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Source> rows = rows_of(*plan, frame);
    if (plan->is_fixed) {
      SmtTerm found = alive && found_at(rows);
      if (!window.has_first) found = found && symbols_.fresh_truth("within_limit");
      selection.found.push_back(found);
    } else {
      const SmtTerm found = window.max_rows > i ? symbols_.fresh_truth("found") : symbols_.no();
      instance_.facts.push_back(implies(found, alive && found_at(rows)));
      for (std::size_t j = 0; j < i; ++j) {
        std::vector<SmtTerm> same;
        for (std::size_t s = 0; s < rows.size(); ++s)
          same.push_back(symbols_.same_row(rows[s].row, selection.rows[j][s].row));
        instance_.facts.push_back(!(found && selection.found[j] && symbols_.all(same)));
      }
      if (i > 0 && loops_ == Loops::AtMostTwo)
        instance_.facts.push_back(implies(found, selection.found[i - 1]));
      selection.found.push_back(found);
    }
    selection.rows.push_back(std::move(rows));
  }

  for (std::uint32_t s = 0; s < plan->sources.size(); ++s) {
    const Plan::OfSource& source = plan->sources[s];
    const sql::TableId table = source.table;
    // In a join, which rows of one table are looked at depends on the others: a free symbol says.
    std::optional<SmtFunction> looked_at;
    if (is_join && !source.is_fixed) {
      looked_at = symbols_.row_function("looked_at", table, SmtSolver::kBool);
      for (std::size_t i = 0; i < selection.rows.size(); ++i)
        instance_.facts.push_back(
            implies(selection.found[i], (*looked_at)(selection.rows[i][s].row)));
    }
    const auto is_candidate = [this, plan, s, frame, looked_at](const Row& row) {
      std::vector<Source> rows(plan->sources.size());
      rows[s] = {plan->sources[s].table, row};
      std::vector<SmtTerm> parts;
      for (const sql::Expr* conjunct : plan->sources[s].fixed)
        parts.push_back(is_true(*conjunct, frame.with(rows)));
      if (looked_at) parts.push_back((*looked_at)(row));
      return symbols_.all(parts);
    };
    const auto is_there = [this, is_candidate, table, frame](const Row& row) {
      return is_candidate(row) && present_now(table, row, frame);
    };
    std::function<SmtTerm(const Row&)> matches = is_there;
    if (!is_join) {
      matches = [this, found_at, table](const Row& row) { return found_at({Source{table, row}}); };
      selection.matches = matches;
    }
    std::set<std::uint32_t> outputs;
    for (const auto& [of, column] : used) {
      if (of == s && !source.where_columns.contains(column)) outputs.insert(column);
    }
    if (locks && !is_join) {
      Search search{.table = table, .plan = plan, .guard = alive, .locks = true};
      if (source.is_fixed) search.row = selection.rows.front()[s].row;
      search.is_candidate = is_candidate;
      search.is_there = is_there;
      search.is_found = [met_at, table, frame](const Row& row) {
        return met_at({Source{table, row}}, frame);
      };
      search.is_followed = [is_found = search.is_found, same = still.front()](const Row& row) {
        return is_found(row) && same(row);
      };
      search.is_left = [this, is_followed = search.is_followed, table, now](const Row& row) {
        return is_followed(row) && present_now(table, row, now);
      };
      search.matches = matches;
      read_found(statement, search, true, outputs);
    } else if (source.is_fixed) {
      const Row& row = selection.rows.front()[s].row;
      const SmtTerm guard = alive && is_candidate(row);
      read(statement, table, kPresence, guard, row);
      for (const std::uint32_t column : source.where_columns)
        read(statement, table, column, alive && is_there(row), row);
      for (const std::uint32_t column : outputs)
        read(statement, table, column, alive && matches(row), row);
    } else {
      const std::size_t first_read = instance_.accesses.size();
      read_all(statement, table, kPresence, alive, is_candidate);
      for (const std::uint32_t column : source.where_columns)
        read_all(statement, table, column, alive, is_there);
      const bool is_fixed_by_insert = std::ranges::none_of(
          source.where_columns,
          [&](std::uint32_t column) { return symbols_.changes().is_updated(table, column); });
      if (!is_join && is_fixed_by_insert) {
        for (std::size_t i = first_read; i < instance_.accesses.size(); ++i) {
          instance_.accesses[i].would_match = [this, where, frame, table](
                                                  const Row& row, const Access::Columns& values) {
            Source inserted{table, row};
            const auto& columns = symbols_.app().table(table).columns;
            for (std::uint32_t c = 0; c < columns.size(); ++c) inserted.values.push_back(values(c));
            return is_true(*where, frame.with({std::move(inserted)}));
          };
        }
      }
      for (const std::uint32_t column : outputs) read_all(statement, table, column, alive, matches);
    }
    if (query.lock == sql::Lock::None || query.is_aggregate()) continue;
    if (locks && is_join) {
      // What the search passes by is written down above; the rows that it found are read again.
      reads_at_ = kCurrent;
      std::set<std::uint32_t> columns = outputs;
      columns.insert(source.where_columns.begin(), source.where_columns.end());
      columns.insert(kPresence);
      for (std::size_t i = 0; i < selection.rows.size(); ++i) {
        for (const std::uint32_t column : columns)
          read(statement, table, column, selection.found[i], selection.rows[i][s].row);
      }
      reads_at_ = at_;
    }
    // Only rows that the query returns are locked: all of them in a loop and by PERFORM.
    const bool returns_all = statement.op == StatementOp::ForQuery || statement.targets.empty();
    if (returns_all && window.is_whole && !is_join && !source.is_fixed) {
      lock(statement, table, query.lock, alive, std::nullopt, matches);
    } else {
      for (std::size_t i = 0; i < selection.rows.size(); ++i)
        lock(statement, table, query.lock, selection.found[i], selection.rows[i][s].row);
    }
  }
  // Every row that matches is found, or there are more than the ones that we look at.
  if (!is_join && !plan->is_fixed && !plan->sources.empty() && window.has_first &&
      (num_rows == 1 || loops_ == Loops::AtMostTwo)) {
    const auto rows = selection.rows;
    const auto found = selection.found;
    const auto matches = selection.matches;
    const bool is_complete = num_rows > 1 && window.is_whole;
    instance_.row_facts.push_back(
        {plan->sources.front().table,
         [this, rows, found, matches, alive, is_complete](const Row& row) {
           std::vector<SmtTerm> parts;
           for (std::size_t i = 0; i < rows.size(); ++i) {
             parts.push_back(is_complete ? found[i] && symbols_.same_row(rows[i].front().row, row)
                                         : found[i]);
           }
           return implies(alive && matches(row), symbols_.any(parts));
         }});
  }
  return selection;
}

void SymbolicRun::select_into(const sql::Statement& statement) {
  const sql::Query& query = statement.query;
  const Selection selection = select(statement, query, 1);
  const SmtTerm found = selection.found.front();
  const Frame at = selection.frame.with(selection.rows.front());
  // ORDER BY … LIMIT 1 over one table: no row comes before the one that is picked.
  if (!query.order_by.empty() && !query.offset && selection.matches && query.sources.size() == 1) {
    const sql::OrderBy* order = &query.order_by.front();
    const SymValue best = eval(order->expr, selection.search.with(selection.rows.front()));
    instance_.row_facts.push_back(
        {query.sources.front(), [this, order, best, selection](const Row& row) {
           const SymValue other =
               eval(order->expr,
                    selection.search.with({Source{selection.rows.front().front().table, row}}));
           const SmtTerm is_behind =
               order->descending ? other.number <= best.number : best.number <= other.number;
           return implies(selection.found.front() && selection.matches(row),
                          other.null || best.null || is_behind);
         }});
  }
  if (statement.strict) {
    abort_if(alive_ && !found);
  }
  const SmtTerm alive = alive_;
  if (statement.exists) {
    env_[statement.targets.front().index].value = symbols_.choose_value(
        alive, symbols_.truth(found), env_[statement.targets.front().index].value);
  } else {
    for (std::size_t i = 0; i < statement.targets.size() && i < query.outputs.size(); ++i) {
      SymValue value =
          symbols_.choose_value(found, eval(query.outputs[i].expr, at), symbols_.null());
      Variable& target = env_[statement.targets[i].index];
      if (!target.array) target.value = symbols_.choose_value(alive, value, target.value);
    }
  }
  if (!is_part_of_expression(function_, statement)) set_found(found);
}

void SymbolicRun::aggregate_into(const sql::Statement& statement) {
  SmtSolver& smt = symbols_.smt();
  const sql::Query& query = statement.query;
  const std::size_t first = instance_.accesses.size();
  const Selection selection = select(statement, query, 1);
  const SmtTerm found = selection.found.front();
  const Frame at = selection.frame.with(selection.rows.front());
  const SmtTerm alive = alive_;
  const bool is_single_row = selection.matches && instance_.accesses.size() > 0 &&
                             this->plan(query.sources, query.where).is_fixed;
  const bool has_row = window_of(query).has_first;
  const SmtTerm is_returned = has_row ? symbols_.yes() : symbols_.fresh_truth("within_limit");
  for (std::size_t i = 0; i < query.outputs.size(); ++i) {
    const sql::Output* output = &query.outputs[i];
    SymValue value = symbols_.fresh_value("aggregate", false);
    const SymValue picked = eval(output->expr, at);
    switch (output->aggregate) {
      case sql::Aggregate::Count:
        instance_.facts.push_back(smt.number(0) <= value.number);
        instance_.facts.push_back(implies(smt.number(1) <= value.number, found));
        // Values that are NULL do not count.
        if (output->expr.op == sql::ExprOp::Null)
          instance_.facts.push_back(implies(found, smt.number(1) <= value.number));
        if (is_single_row) instance_.facts.push_back(value.number <= smt.number(1));
        break;
      case sql::Aggregate::Min:
      case sql::Aggregate::Max: {
        const bool is_min = output->aggregate == sql::Aggregate::Min;
        value = {!found || picked.null, picked.number};
        if (!selection.matches || is_single_row) break;
        // No matching row is beyond it; and with one output, rows beyond it do not matter.
        const SymValue best = value;
        const auto is_beyond = [this, output, selection, best, is_min](const Row& row) {
          const SymValue other =
              eval(output->expr,
                   selection.frame.with({Source{selection.rows.front().front().table, row}}));
          return !other.null && (is_min ? other.number < best.number : best.number < other.number);
        };
        instance_.row_facts.push_back(
            {query.sources.front(),
             [this, selection, best, is_beyond, output, alive](const Row& row) {
               const SymValue other =
                   eval(output->expr,
                        selection.frame.with({Source{selection.rows.front().front().table, row}}));
               return implies(alive && selection.matches(row),
                              other.null || (!best.null && !is_beyond(row)));
             }});
        const bool is_of_key =
            output->expr.op == sql::ExprOp::Column &&
            symbols_.app().table(query.sources.front()).is_key_column(output->expr.column);
        if (query.outputs.size() == 1 && is_of_key) {
          for (std::size_t a = first; a < instance_.accesses.size(); ++a) {
            Access& access = instance_.accesses[a];
            if (access.row) continue;
            access.condition = [this, inner = access.condition, output, selection, best,
                                is_min](const Row& row) {
              const SymValue other =
                  eval(output->expr,
                       selection.frame.with({Source{selection.rows.front().front().table, row}}));
              const SmtTerm counts =
                  is_min ? other.number <= best.number : best.number <= other.number;
              return inner(row) && (best.null || counts);
            };
          }
        }
        break;
      }
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
    if (!has_row) value = symbols_.choose_value(is_returned, value, symbols_.null());
    if (i < statement.targets.size()) {
      Variable& target = env_[statement.targets[i].index];
      if (target.array) forget_rows(statement.targets[i]);
      target.value = symbols_.choose_value(alive, value, target.value);
    }
  }
  if (!is_part_of_expression(function_, statement)) set_found(is_returned);
}

std::vector<SymbolicRun::Round> SymbolicRun::rounds_of(const sql::Statement& statement) {
  SmtSolver& smt = symbols_.smt();
  std::vector<Round> rounds;
  const bool is_any = loops_ == Loops::AnyTwo;
  if (statement.op == StatementOp::ForQuery && statement.query.rows) {
    for (int i = 0; i < 2; ++i) {
      Round round{alive_ && symbols_.fresh_truth("round"), {}};
      if (i > 0 && !is_any) instance_.facts.push_back(implies(round.active, rounds.front().active));
      for (const sql::VarId target : statement.targets) {
        if (!env_[target.index].array) round.targets.emplace_back(target, unknown_value(target));
      }
      rounds.push_back(std::move(round));
    }
    return rounds;
  }
  if (statement.op == StatementOp::ForQuery) {
    const sql::Query& query = statement.query;
    const Selection selection = select(statement, query, 2);
    for (std::size_t i = 0; i < selection.rows.size(); ++i) {
      Round round{selection.found[i], {}};
      const Frame at = selection.frame.with(selection.rows[i]);
      for (std::size_t t = 0; t < statement.targets.size() && t < query.outputs.size(); ++t)
        round.targets.emplace_back(statement.targets[t], eval(query.outputs[t].expr, at));
      rounds.push_back(std::move(round));
    }
    return rounds;
  }
  const Frame frame = here();
  if (statement.op == StatementOp::While) {
    for (int i = 0; i < 2; ++i)
      rounds.push_back({is_any ? symbols_.fresh_truth("round") : symbols_.yes(), {}});
    return rounds;
  }
  std::optional<SymArray> list;
  SymValue from = symbols_.number(1);
  SymValue to = symbols_.number(0);
  if (statement.op == StatementOp::ForArray) {
    list = array(*statement.expr, frame);
    to = {symbols_.no(), list->size};
  } else {
    from = eval(*statement.expr, frame);
    to = eval(*statement.upper, frame);
    if (statement.descending) std::swap(from, to);
  }
  const SmtTerm width = statement.step ? eval(*statement.step, frame).number : smt.number(1);
  SmtTerm last = from.number;
  for (int i = 0; i < 2; ++i) {
    SmtTerm number = from.number;
    if (is_any) {
      number = symbols_.fresh_number("i");
      if (i > 0) instance_.facts.push_back(statement.descending ? number < last : last < number);
    } else if (i > 0) {
      number = statement.descending ? last - width : last + width;
    } else if (statement.descending) {
      number = to.number;
    }
    SmtTerm active = from.number <= number && number <= to.number && !from.null && !to.null;
    if (is_any) active = active && symbols_.fresh_truth("round");
    Round round{active, {}};
    const SymValue value = list ? element_of(*list, number) : SymValue{symbols_.no(), number};
    round.targets.emplace_back(statement.targets.front(), value);
    rounds.push_back(std::move(round));
    last = number;
  }
  if (!is_any) {
    // A third round does not happen.
    instance_.facts.push_back(implies(alive_, smt.number(1) <= width));
    instance_.facts.push_back(implies(alive_, to.number - from.number < width + width));
  }
  return rounds;
}

}  // namespace isoscope::audit
