#include "sql/server/rows_in_hand.h"

#include <algorithm>
#include <set>

#include "sql/run/aggregates.h"
#include "sql/run/call_state.h"
#include "sql/run/row_set.h"

namespace isoscope::sql::server {
namespace {

using SeenTuple = std::vector<Storage::Seen>;

Result<std::vector<Value>> outputs_of(const Query& query, std::span<const Value> variables,
                                      RowsInHand& row) {
  std::vector<Value> values;
  for (const Output& output : query.outputs) {
    auto value = evaluate(output.expr, variables, row);
    if (!value) return value.error();
    values.push_back(*std::move(value));
  }
  return values;
}

void split(const Expr& where, std::vector<std::vector<const Expr*>>& parts) {
  if (where.op == ExprOp::And) {
    for (const Expr& arg : where.args) split(arg, parts);
    return;
  }
  std::size_t needed = 0;
  for_each_column(where, [&](SourceId source, ColumnId) {
    needed = std::max(needed, std::size_t{source.index} + 1);
  });
  parts[needed].push_back(&where);
}

}  // namespace

RowsInHand in_hand(const Storage& storage, const SeenTuple& tuple) {
  RowsInHand rows;
  for (const Storage::Seen& seen : tuple) rows.rows().push_back(&storage.values(seen));
  return rows;
}

Result<std::vector<SeenTuple>> matches(const Storage& storage,
                                       const ById<SourceId, TableId>& sources,
                                       const std::optional<Expr>& where,
                                       std::span<const Value> variables, const View& view) {
  // Parts of WHERE by the first number of sources that they can be decided with.
  std::vector<std::vector<const Expr*>> parts(sources.size() + 1);
  if (where) split(*where, parts);
  std::vector<SeenTuple> tuples = {{}};
  for (std::size_t bound = 0; bound <= sources.size(); ++bound) {
    std::vector<Storage::Seen> rows;
    if (bound > 0) rows = storage.scan(sources.entries()[bound - 1], view);
    std::vector<SeenTuple> kept;
    for (SeenTuple& tuple : tuples) {
      for (std::size_t r = 0; r < (bound > 0 ? rows.size() : 1); ++r) {
        SeenTuple longer = tuple;
        if (bound > 0) longer.push_back(rows[r]);
        RowsInHand row = in_hand(storage, longer);
        bool holds = true;
        for (const Expr* part : parts[bound]) {
          auto value = evaluate(*part, variables, row);
          if (!value) return value.error();
          holds = is_true(*value);
          if (!holds) break;
        }
        if (holds) kept.push_back(std::move(longer));
      }
    }
    tuples = std::move(kept);
  }
  return tuples;
}

Result<void> sort(const Storage& storage, const Query& query, std::span<const Value> variables,
                  std::vector<SeenTuple>& tuples) {
  if (query.order_by.empty()) return {};
  std::vector<std::pair<std::vector<Value>, SeenTuple>> keyed;
  for (SeenTuple& tuple : tuples) {
    RowsInHand row = in_hand(storage, tuple);
    std::vector<Value> order;
    for (const OrderBy& by : query.order_by) {
      auto value = evaluate(by.expr, variables, row);
      if (!value) return value.error();
      order.push_back(*std::move(value));
    }
    keyed.emplace_back(std::move(order), std::move(tuple));
  }
  std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
    for (std::size_t i = 0; i < query.order_by.size(); ++i) {
      const auto order = order_of(query.order_by[i], a.first[i], b.first[i]);
      if (order != 0) return order < 0;
    }
    return false;
  });
  for (std::size_t i = 0; i < tuples.size(); ++i) tuples[i] = std::move(keyed[i].second);
  return {};
}

Result<std::vector<std::vector<Value>>> rows_of(const Storage& storage, const Query& query,
                                                const QueryNeeds& needs,
                                                std::span<const Value> variables,
                                                const std::vector<SeenTuple>& all,
                                                std::size_t max_rows, std::size_t offset) {
  using Rows = std::vector<std::vector<Value>>;
  if (query.is_aggregate()) {
    if (offset > 0 || max_rows == 0) return Rows();
    std::vector<Accumulator> accumulators;
    for (const Output& output : query.outputs) accumulators.emplace_back(output);
    for (const SeenTuple& tuple : all) {
      RowsInHand row = in_hand(storage, tuple);
      for (std::size_t i = 0; i < accumulators.size(); ++i) {
        auto value = evaluate(query.outputs[i].expr, variables, row);
        if (!value) return value.error();
        if (auto added = accumulators[i].add(*value); !added) return added.error();
      }
    }
    auto row = results_of(accumulators);
    if (!row) return row.error();
    return Rows{*std::move(row)};
  }
  Rows rows;
  std::set<std::vector<Value>> seen;
  std::size_t skipped = 0;
  for (const SeenTuple& tuple : all) {
    if (rows.size() >= max_rows) break;
    std::vector<Value> values;
    if (needs.outputs) {
      RowsInHand row = in_hand(storage, tuple);
      auto outputs = outputs_of(query, variables, row);
      if (!outputs) return outputs.error();
      values = *std::move(outputs);
      if (query.distinct && !seen.insert(values).second) continue;
    }
    if (skipped++ < offset) continue;
    rows.push_back(std::move(values));
  }
  return rows;
}

}  // namespace isoscope::sql::server
