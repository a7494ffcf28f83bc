#include "sql/run/row_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sql/run/aggregates.h"
#include "sql/sqlstates.h"

namespace isoscope::sql {
namespace {

using Rows = std::vector<std::vector<Value>>;

class OneRow final : public RowsInScope {
 public:
  explicit OneRow(const std::vector<Value>& values) : values_(values) {}
  Value column(SourceId, ColumnId column) override {
    return column.index < values_.size() ? values_[column.index] : Value();
  }

 private:
  const std::vector<Value>& values_;
};

class RowQuery {
 public:
  RowQuery(CallState& call, const Query& query, const QueryNeeds& needs)
      : call_(call), query_(query), needs_(needs) {}

  Result<Rows> run() {
    auto limit = count(query_.limit, kAll, kNegativeLimit);
    if (!limit) return limit.error();
    auto offset = count(query_.offset, 0, kNegativeOffset);
    if (!offset) return offset.error();
    auto kept = matching();
    if (!kept) return kept.error();
    if (auto sorted = sort(*kept); !sorted) return sorted.error();
    const bool groups = query_.group_by || query_.is_aggregate();
    auto made = groups ? grouped(*kept) : outputs(*kept);
    if (!made) return made.error();
    const std::size_t max_rows = std::min(*limit, needs_.max_rows);
    const std::size_t first = std::min(*offset, made->size());
    const std::size_t last = first + std::min(max_rows, made->size() - first);
    return Rows(made->begin() + static_cast<std::ptrdiff_t>(first),
                made->begin() + static_cast<std::ptrdiff_t>(last));
  }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  Result<Value> value(const Expr& expr, const std::vector<Value>& row) {
    OneRow rows(row);
    return evaluate(expr, call_.variables, rows);
  }

  Result<std::size_t> count(const std::optional<Expr>& expr, std::size_t otherwise,
                            std::string_view if_negative) {
    if (!expr) return otherwise;
    auto number = evaluate(*expr, call_.variables);
    if (!number) return number.error();
    const auto* known = std::get_if<std::int64_t>(&number->data);
    if (known == nullptr) return otherwise;
    if (*known < 0) return Error{.what = std::string(if_negative)};
    return static_cast<std::size_t>(*known);
  }

  Result<Rows> matching() {
    Rows kept;
    const Value& set = call_.variables[query_.rows->index];
    const auto* rows = std::get_if<std::vector<Value>>(&set.data);
    if (rows == nullptr) return kept;
    for (const Value& each : *rows) {
      if (call_.is_over()) return call_.limit(limit_reached() + " was reached");
      const auto* row = std::get_if<std::vector<Value>>(&each.data);
      if (row == nullptr) continue;
      if (query_.where) {
        auto holds = value(*query_.where, *row);
        if (!holds) return holds.error();
        if (!is_true(*holds)) continue;
      }
      kept.push_back(*row);
    }
    return kept;
  }

  Result<void> sort(Rows& rows) {
    if (query_.order_by.empty()) return {};
    std::vector<std::pair<std::vector<Value>, std::vector<Value>>> keyed;
    for (std::vector<Value>& row : rows) {
      std::vector<Value> order;
      for (const OrderBy& by : query_.order_by) {
        auto known = value(by.expr, row);
        if (!known) return known.error();
        order.push_back(*std::move(known));
      }
      keyed.emplace_back(std::move(order), std::move(row));
    }
    std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
      for (std::size_t i = 0; i < query_.order_by.size(); ++i) {
        const auto order = order_of(query_.order_by[i], a.first[i], b.first[i]);
        if (order != 0) return order < 0;
      }
      return false;
    });
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::move(keyed[i].second);
    return {};
  }

  Result<Rows> outputs(const Rows& rows) {
    Rows made;
    std::set<std::vector<Value>> seen;
    for (const std::vector<Value>& row : rows) {
      std::vector<Value> values;
      for (const Output& output : query_.outputs) {
        auto known = value(output.expr, row);
        if (!known) return known.error();
        values.push_back(*std::move(known));
      }
      if (query_.distinct && !seen.insert(values).second) continue;
      if (!query_.distinct_on.empty()) {
        std::vector<Value> key;
        for (const Expr& expr : query_.distinct_on) {
          auto known = value(expr, row);
          if (!known) return known.error();
          key.push_back(*std::move(known));
        }
        if (!seen.insert(std::move(key)).second) continue;
      }
      made.push_back(std::move(values));
    }
    return made;
  }

  struct Group {
    std::vector<Value> first;
    std::vector<Accumulator> accumulators;
  };

  Group start_group(std::vector<Value> row) const {
    Group group{std::move(row), {}};
    for (const Output& output : query_.outputs) group.accumulators.emplace_back(output);
    return group;
  }

  Result<Rows> grouped(const Rows& rows) {
    std::vector<Group> groups;
    std::map<std::vector<Value>, std::size_t> known;
    // Without GROUP BY there is one group, whatever there is.
    const bool is_whole = !query_.group_by || query_.group_by->empty();
    if (is_whole) groups.push_back(start_group(rows.empty() ? std::vector<Value>() : rows[0]));
    for (const std::vector<Value>& row : rows) {
      std::vector<Value> key;
      for (std::size_t i = 0; !is_whole && i < query_.group_by->size(); ++i) {
        auto part = value((*query_.group_by)[i], row);
        if (!part) return part.error();
        key.push_back(*std::move(part));
      }
      std::size_t at = 0;
      if (!is_whole) {
        const auto [found, is_new] = known.try_emplace(std::move(key), groups.size());
        if (is_new) groups.push_back(start_group(row));
        at = found->second;
      }
      if (auto added = add(groups[at], row); !added) return added.error();
    }
    Rows made;
    for (const Group& group : groups) {
      std::vector<Value>& values = made.emplace_back();
      for (std::size_t i = 0; i < query_.outputs.size(); ++i) {
        if (query_.outputs[i].aggregate != Aggregate::None) {
          auto aggregate = group.accumulators[i].result();
          if (!aggregate) return aggregate.error();
          values.push_back(*std::move(aggregate));
          continue;
        }
        auto plain = value(query_.outputs[i].expr, group.first);
        if (!plain) return plain.error();
        values.push_back(*std::move(plain));
      }
    }
    return made;
  }

  Result<void> add(Group& group, const std::vector<Value>& row) {
    for (std::size_t i = 0; i < query_.outputs.size(); ++i) {
      const Output& output = query_.outputs[i];
      if (output.aggregate == Aggregate::None) continue;
      if (output.filter) {
        auto counts = value(*output.filter, row);
        if (!counts) return counts.error();
        if (!is_true(*counts)) continue;
      }
      auto known = value(output.expr, row);
      if (!known) return known.error();
      if (auto added = group.accumulators[i].add(*known); !added) return added.error();
    }
    return {};
  }

  CallState& call_;
  const Query& query_;
  const QueryNeeds& needs_;
};

}  // namespace

Result<Rows> run_row_query(CallState& call, const Query& query, const QueryNeeds& needs) {
  return RowQuery(call, query, needs).run();
}

void append_row(Value& row_set, std::vector<Value> row) {
  auto* rows = std::get_if<std::vector<Value>>(&row_set.data);
  if (rows == nullptr) {
    row_set = Value(std::vector<Value>());
    rows = std::get_if<std::vector<Value>>(&row_set.data);
  }
  rows->emplace_back(std::move(row));
}

std::strong_ordering order_of(const OrderBy& by, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) {
    const auto order = a.is_null() <=> b.is_null();
    const bool nulls_first = by.nulls_first.value_or(by.descending);
    return nulls_first ? 0 <=> order : order;
  }
  const auto order = a <=> b;
  return by.descending ? 0 <=> order : order;
}

}  // namespace isoscope::sql
