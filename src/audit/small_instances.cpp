#include "audit/small_instances.h"

#include <algorithm>

#include "sql/evaluate.h"
#include "sql/exclusions.h"
#include "sql/statement_walk.h"

namespace isoscope::audit {

namespace {

constexpr std::int64_t kLargestMentioned = 1000;

struct Mentioned {
  std::vector<std::int64_t>& numbers;
  std::vector<std::string>& texts;

  void look(const sql::Expr& expr) {
    if (expr.op == sql::ExprOp::Integer && std::abs(expr.number) <= kLargestMentioned) {
      for (const std::int64_t near : {-1, 0, 1}) add(numbers, expr.number + near);
    }
    if (expr.op == sql::ExprOp::Decimal) {
      const auto number = sql::to_integer(sql::parse_decimal(expr.text).value_or(sql::Decimal{}));
      if (number && std::abs(*number) <= kLargestMentioned) {
        for (const std::int64_t near : {-1, 0, 1}) add(numbers, *number + near);
      }
    }
    if (expr.op == sql::ExprOp::Text) add(texts, expr.text);
    for (const sql::Expr& arg : expr.args) look(arg);
  }
  void look(const std::optional<sql::Expr>& expr) {
    if (expr) look(*expr);
  }
  void look(const std::vector<sql::SetColumn>& sets) {
    for (const sql::SetColumn& set : sets) look(set.value);
  }
  void look(const sql::Query& query) {
    look(query.where);
    for (const sql::Output& output : query.outputs) look(output.expr);
  }
  // What decides about rows: not what is returned, nor what ON CONFLICT sets.
  void look(std::span<const sql::Statement> body) {
    for (const sql::Statement& s : body) {
      std::visit(sql::Overloaded{[&](const sql::Select& kind) { look(kind.query); },
                                 [&](const sql::ForQuery& kind) { look(kind.query); },
                                 [&](const sql::Insert& kind) {
                                   look(kind.conflict_where);
                                   look(kind.sets);
                                 },
                                 [&](const sql::Update& kind) {
                                   look(kind.where);
                                   look(kind.sets);
                                 },
                                 [&](const sql::Delete& kind) { look(kind.where); },
                                 [&](const sql::Assign& kind) { look(kind.value); },
                                 [&](const sql::If& kind) { look(kind.condition); },
                                 [&](const sql::While& kind) { look(kind.condition); },
                                 [&](const sql::Jump& kind) { look(kind.condition); },
                                 [&](const sql::ForRange& kind) {
                                   look(kind.from);
                                   look(kind.to);
                                 },
                                 [&](const sql::ForArray& kind) { look(kind.array); },
                                 [&](const sql::Return& kind) { look(kind.value); },
                                 [&](const sql::ReturnRow& kind) { look(kind.value); },
                                 [](const sql::Raise&) {}, [](const sql::EndTransaction&) {},
                                 [](const sql::Append&) {}, [](const sql::Block&) {}},
                 s.kind);
      look(s.body());
      look(s.otherwise());
    }
  }
  template <typename T>
  static void add(std::vector<T>& list, const T& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  }
};

class OneRow final : public sql::RowsInScope {
 public:
  explicit OneRow(const sql::TableRow& values) : values_(values) {}
  sql::Value column(sql::SourceId, sql::ColumnId column) override { return values_[column]; }

 private:
  const sql::TableRow& values_;
};

bool meets_checks(const sql::Table& table, const sql::TableRow& values) {
  OneRow row(values);
  return std::ranges::all_of(table.checks, [&](const sql::Expr& check) {
    const auto truth = sql::evaluate(check, {}, row);
    return truth.ok() && *truth != sql::Value(false);
  });
}

bool exclude(const sql::Table& table, const sql::InitialRow& a, const sql::InitialRow& b) {
  return std::ranges::any_of(table.exclusions, [&](const sql::Exclusion& exclusion) {
    const auto of_a = sql::values_of(exclusion, a.values);
    const auto of_b = sql::values_of(exclusion, b.values);
    return !of_a || !of_b || sql::conflict(exclusion, *of_a, *of_b);
  });
}

bool agree(const std::vector<sql::ColumnId>& key, const sql::InitialRow& a,
           const sql::InitialRow& b) {
  return std::ranges::all_of(key, [&](sql::ColumnId column) {
    return !a.values[column].is_null() && a.values[column] == b.values[column];
  });
}

}  // namespace

bool fits_beside(const sql::Application& app, const std::vector<sql::InitialRow>& others,
                 const sql::InitialRow& row) {
  const sql::Table& table = app.table(row.table);
  if (!meets_checks(table, row.values)) return false;
  for (const sql::ColumnId c : table.columns.ids()) {
    if (row.values[c].is_null() && (table.columns[c].not_null || table.is_key_column(c)))
      return false;
  }
  return std::ranges::none_of(others, [&](const sql::InitialRow& other) {
    if (other.table != row.table) return false;
    return agree(table.primary_key, other, row) || exclude(table, other, row) ||
           std::ranges::any_of(table.unique,
                               [&](const auto& unique) { return agree(unique, other, row); });
  });
}

SmallInstances::SmallInstances(const sql::Application& app,
                               const std::vector<sql::RowAssertion>& claims, std::uint64_t seed)
    : app_(app), rng_(seed) {
  Mentioned mentioned{numbers_, texts_};
  for (const sql::Function& function : app.functions) mentioned.look(function.body);
  for (const sql::RowAssertion& claim : claims) mentioned.look(claim.function.body);
  for (const sql::Table& table : app.tables) {
    for (const sql::Expr& check : table.checks) mentioned.look(check);
  }
}

sql::Value SmallInstances::key_value(sql::Type type) {
  switch (type) {
    case sql::Type::Integer: return sql::Value(static_cast<std::int64_t>(1 + rng_.below(2)));
    case sql::Type::Text: return sql::Value(texts_[rng_.below(texts_.size())]);
    case sql::Type::Boolean: return sql::Value(rng_.chance(0.5));
    case sql::Type::Numeric:
      return sql::Value(sql::Decimal{static_cast<std::int64_t>(1 + rng_.below(2)), 0});
  }
  return {};
}

sql::Value SmallInstances::any_value(sql::Type type) {
  if (type == sql::Type::Numeric) {
    // Near the numbers of the program, and between them.
    constexpr std::int64_t kCents[] = {0, 0, 1, 50, 99};
    const std::int64_t whole = numbers_[rng_.below(numbers_.size())];
    return sql::Value(sql::Decimal{whole * 100 + kCents[rng_.below(std::size(kCents))], 2});
  }
  if (type != sql::Type::Integer) return key_value(type);
  return sql::Value(numbers_[rng_.below(numbers_.size())]);
}

// Every row that it refers to is there. A reference that is not gets another target, or NULL.
bool SmallInstances::refer(const std::vector<sql::InitialRow>& rows, const sql::Table& table,
                           sql::InitialRow& row) {
  for (const sql::ForeignKey& key : table.foreign_keys) {
    std::vector<const sql::InitialRow*> targets;
    for (const sql::InitialRow& other : rows) {
      if (other.table == key.target) targets.push_back(&other);
    }
    const sql::InitialRow* target = targets.empty() ? nullptr : targets[rng_.below(targets.size())];
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      const sql::ColumnId column = key.columns[i];
      if (target == nullptr && table.columns[column].not_null) return false;
      row.values[column] = target == nullptr ? sql::Value() : target->values[key.target_columns[i]];
    }
  }
  return true;
}

void SmallInstances::add_row(std::vector<sql::InitialRow>& rows, sql::TableId id) {
  const sql::Table& table = app_.table(id);
  sql::InitialRow row{id, {}, {}};
  for (const sql::ColumnId c : table.columns.ids()) {
    const sql::Column& column = table.columns[c];
    const bool is_key = table.is_key_column(c);
    if (!column.not_null && !is_key && rng_.chance(0.1)) {
      row.values.emplace_back();
    } else {
      row.values.push_back(is_key ? key_value(column.type) : any_value(column.type));
      const auto* number = std::get_if<sql::Decimal>(&row.values.back().data);
      if (number != nullptr && column.width.bits != sql::kAnyScale)
        row.values.back() =
            sql::Value(sql::rounded(*number, column.width.bits).value_or(sql::Decimal{}));
    }
  }
  if (refer(rows, table, row) && fits_beside(app_, rows, row)) rows.push_back(std::move(row));
}

std::vector<sql::InitialRow> SmallInstances::rows() {
  std::vector<sql::InitialRow> rows;
  for (std::uint32_t t = 0; t < app_.tables.size(); ++t) {
    for (std::size_t tries = rng_.below(4); tries > 0; --tries) add_row(rows, sql::TableId{t});
  }
  return rows;
}

ScenarioCall SmallInstances::call(sql::FunctionId function) {
  ScenarioCall call{function, {}};
  const sql::Function& called = app_.function(function);
  for (std::uint32_t p = 0; p < called.num_parameters; ++p) {
    const sql::Variable& parameter = called.variables[p];
    const auto one = [&] {
      return rng_.chance(0.7) ? key_value(parameter.type) : any_value(parameter.type);
    };
    if (!parameter.is_array) {
      call.arguments.push_back(one());
      continue;
    }
    std::vector<sql::Value> elements;
    for (std::size_t i = rng_.below(3); i > 0; --i) elements.push_back(one());
    call.arguments.push_back(sql::Value(std::move(elements)));
  }
  return call;
}

}  // namespace isoscope::audit
