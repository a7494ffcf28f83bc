#include "sql/run/query.h"

#include <algorithm>
#include <set>

#include "sql/run/aggregates.h"
#include "sql/run/matcher.h"
#include "sql/run/row_set.h"
#include "sql/sqlstates.h"

namespace isoscope::sql {
namespace {

using Rows = std::vector<std::vector<Value>>;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

class QueryRun {
 public:
  QueryRun(CallState& call, const Query& query, const QueryNeeds& needs)
      : call_(call), query_(query), needs_(needs), view_(call) {}

  Result<Rows> run() {
    auto limit = row_count(query_.limit, kAll, kNegativeLimit);
    if (!limit) return limit.error();
    auto offset = row_count(query_.offset, 0, kNegativeOffset);
    if (!offset) return offset.error();
    max_rows_ = std::min(*limit, needs_.max_rows);
    offset_ = *offset;
    if (max_rows_ == 0) return Rows();
    if (!query_.is_aggregate()) return rows();
    if (offset_ > 0) return Rows();
    if (!needs_.outputs) return Rows(1);  // an aggregate has one row, whatever there is
    return aggregate();
  }

 private:
  struct Match {
    ById<SourceId, RowKey> keys;
    std::vector<Value> order;
    std::vector<Value> outputs = {};
  };

  Result<std::size_t> row_count(const std::optional<Expr>& expr, std::size_t otherwise,
                                std::string_view if_negative) {
    if (!expr) return otherwise;
    auto value = evaluate(*expr, call_.variables);
    if (!value) return value.error();
    const auto* number = std::get_if<std::int64_t>(&value->data);
    if (number == nullptr) return otherwise;
    if (*number < 0) return Error{.what = std::string(if_negative)};
    return static_cast<std::size_t>(*number);
  }

  Matcher matcher() { return {view_, query_.sources, query_.where ? &*query_.where : nullptr}; }

  // The position in the key of a column that is all of the expression; nothing if it is no key
  // column, or there are several sources.
  std::optional<std::size_t> key_position(const Expr& expr) const {
    if (query_.sources.size() != 1 || expr.op != ExprOp::Column) return std::nullopt;
    const auto& key = call_.app.table(query_.sources.front()).primary_key;
    const auto at = std::ranges::find(key, expr.column);
    if (at == key.end()) return std::nullopt;
    return static_cast<std::size_t>(at - key.begin());
  }

  // Is ORDER BY known from the keys alone? Then rows can be considered in that order.
  bool orders_by_key(Matcher& matcher) const {
    std::vector<std::pair<std::size_t, bool>> columns;
    for (const OrderBy& by : query_.order_by) {
      const auto position = key_position(by.expr);
      if (!position) return false;
      columns.emplace_back(*position, by.descending);
    }
    if (columns.empty()) return true;
    matcher.consider_in_order([columns](const RowKey& a, const RowKey& b) {
      for (const auto& [position, descending] : columns) {
        if (a[position] != b[position]) return (a[position] < b[position]) != descending;
      }
      return false;
    });
    return true;
  }

  Result<Rows> rows() {
    if (query_.lock > Lock::KeyShare) {
      auto searched =
          Matcher::search_first(call_, query_.sources, query_.where ? &*query_.where : nullptr);
      if (!searched) return searched.error();
    }
    Matcher matching = matcher();
    const bool is_ordered = orders_by_key(matching);
    const bool removes_doubles = query_.distinct && needs_.outputs;
    const bool stops_early = is_ordered && !removes_doubles;
    std::vector<Match> matches;
    auto done = matching.for_each([&](Tuple& tuple) -> Result<bool> {
      Match match{tuple.keys(), {}, {}};
      if (!is_ordered) {
        for (const OrderBy& by : query_.order_by) {
          auto value = tuple.value(by.expr);
          if (!value) return value.error();
          match.order.push_back(*std::move(value));
        }
      }
      matches.push_back(std::move(match));
      return !stops_early || max_rows_ == kAll || matches.size() < offset_ + max_rows_;
    });
    if (!done) return done.error();
    if (!is_ordered) sort(matches);
    if (removes_doubles) {
      if (auto unique = remove_doubles(matches); !unique) return unique.error();
    }
    const std::size_t first = std::min(offset_, matches.size());
    const std::size_t count = std::min(max_rows_, matches.size() - first);
    Rows result;
    for (std::size_t i = first; i < first + count; ++i) {
      if (needs_.outputs && !removes_doubles) {
        if (auto known = compute_outputs(matches[i]); !known) return known.error();
      }
      if (query_.lock != Lock::None) {
        for (const SourceId source : query_.sources.ids())
          call_.database.lock(query_.sources[source], matches[i].keys[source], query_.lock);
      }
      result.push_back(std::move(matches[i].outputs));
    }
    return result;
  }

  void sort(std::vector<Match>& matches) const {
    std::ranges::stable_sort(matches, [&](const Match& a, const Match& b) {
      for (std::size_t i = 0; i < query_.order_by.size(); ++i) {
        const auto order = order_of(query_.order_by[i], a.order[i], b.order[i]);
        if (order != 0) return order < 0;
      }
      return false;
    });
  }

  Result<void> compute_outputs(Match& match) {
    Tuple tuple(view_, query_.sources);
    tuple.bind(match.keys);
    for (const Output& output : query_.outputs) {
      auto value = tuple.value(output.expr);
      if (!value) return value.error();
      match.outputs.push_back(*std::move(value));
    }
    return {};
  }

  Result<void> remove_doubles(std::vector<Match>& matches) {
    std::set<std::vector<Value>> seen;
    std::vector<Match> kept;
    for (Match& match : matches) {
      if (auto known = compute_outputs(match); !known) return known;
      if (seen.insert(match.outputs).second) kept.push_back(std::move(match));
    }
    matches = std::move(kept);
    return {};
  }

  Result<Rows> aggregate() {
    Matcher matching = matcher();
    const Output& first = query_.outputs.front();
    const bool is_extreme = first.aggregate == Aggregate::Min || first.aggregate == Aggregate::Max;
    const auto position = key_position(first.expr);
    // Considered from the end where the extreme is, the first row that matches has it.
    const bool first_decides = query_.outputs.size() == 1 && is_extreme && position;
    if (first_decides) {
      const std::size_t at = *position;
      const bool descending = first.aggregate == Aggregate::Max;
      matching.consider_in_order([at, descending](const RowKey& a, const RowKey& b) {
        return descending ? b[at] < a[at] : a[at] < b[at];
      });
    }
    std::vector<Accumulator> accumulators;
    for (const Output& output : query_.outputs) accumulators.emplace_back(output);
    auto done = matching.for_each([&](Tuple& tuple) -> Result<bool> {
      for (std::size_t i = 0; i < accumulators.size(); ++i) {
        auto value = tuple.value(query_.outputs[i].expr);
        if (!value) return value.error();
        if (auto added = accumulators[i].add(*value); !added) return added.error();
      }
      return !first_decides;
    });
    if (!done) return done.error();
    auto row = results_of(accumulators);
    if (!row) return row.error();
    return Rows{*std::move(row)};
  }

  CallState& call_;
  const Query& query_;
  QueryNeeds needs_;
  StatementView view_;
  std::size_t max_rows_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace

Result<Rows> run_query(CallState& call, const Query& query, const QueryNeeds& needs) {
  return QueryRun(call, query, needs).run();
}

}  // namespace isoscope::sql
