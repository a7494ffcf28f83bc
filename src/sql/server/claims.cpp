#include "sql/server/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/run/call_run.h"
#include "sql/run/statement_runner.h"
#include "sql/server/no_database.h"
#include "sql/server/rows_in_hand.h"
#include "sql/server/sql_calls.h"
#include "sql/sqlstates.h"

namespace isoscope::sql::server {
namespace {

constexpr std::size_t kMostRows = 20;
constexpr std::size_t kMostSteps = 100'000;

// Runs queries on the rows that are committed.
class CommittedRows final : public StatementRunner {
 public:
  CommittedRows(const Application& app, const State& state) : app_(app), state_(state) {}

  Result<std::vector<std::vector<Value>>> query(CallState& call, const Statement& statement,
                                                const QueryNeeds& needs) override {
    const View view{state_.committed, TxnNo{UINT32_MAX}, CommandNo{}};
    const Query& query = *statement.query();
    auto all = matches(state_.storage, query.sources, query.where, call.variables, view);
    if (!all) return all.error();
    if (auto sorted = sort(state_.storage, query, call.variables, *all); !sorted)
      return sorted.error();
    auto limit = count(query.limit, SIZE_MAX, call.variables, kNegativeLimit);
    if (!limit) return limit.error();
    auto offset = count(query.offset, 0, call.variables, kNegativeOffset);
    if (!offset) return offset.error();
    const auto* select = statement.find<Select>();
    const bool is_scalar = select != nullptr && select->is_scalar;
    const std::size_t needed = is_scalar ? 2 : needs.max_rows;
    auto rows = rows_of(state_.storage, query, needs, call.variables, *all,
                        std::min(*limit, needed), *offset);
    if (rows && is_scalar && rows->size() > 1) return Error{.what = std::string(kSecondRow)};
    if (!query.is_aggregate()) cut(*all, *offset, *limit);
    if (rows && statement.is<ForQuery>()) keep(query, call.variables, *all);
    return rows;
  }
  Result<Modified> modify(CallState&, const Statement&) override {
    return Error{.what = "a claim changes nothing"};
  }

  std::vector<ShownRow> take() { return std::move(rows_); }

 private:
  // What LIMIT or OFFSET says; NULL says nothing.
  static Result<std::size_t> count(const std::optional<Expr>& expr, std::size_t otherwise,
                                   std::span<const Value> variables, std::string_view if_negative) {
    if (!expr) return otherwise;
    auto value = evaluate(*expr, variables);
    if (!value) return value.error();
    const auto* number = std::get_if<std::int64_t>(&value->data);
    if (number == nullptr) return otherwise;
    if (*number < 0) return Error{.what = std::string(if_negative)};
    return static_cast<std::size_t>(*number);
  }

  // The rows that LIMIT and OFFSET leave are those that may break the claim.
  static void cut(std::vector<std::vector<Storage::Seen>>& all, std::size_t offset,
                  std::size_t limit) {
    const std::size_t first = std::min(offset, all.size());
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
    if (limit < all.size()) all.resize(limit);
  }

  void keep(const Query& query, std::span<const Value> variables,
            const std::vector<std::vector<Storage::Seen>>& all) {
    for (const auto& tuple : all) {
      if (rows_.size() >= kMostRows) return;
      RowsInHand row = in_hand(state_.storage, tuple);
      const bool is_fine = !query.is_aggregate() && [&] {
        const auto value = evaluate(query.outputs.front().expr, variables, row);
        return value && is_true(*value);
      }();
      if (is_fine) continue;
      for (const Storage::Seen& seen : tuple) {
        const Table& table = app_.table(seen.row.table);
        ShownRow shown{seen.row.table, {}};
        const auto& values = state_.storage.values(seen);
        for (const ColumnId c : values.ids()) {
          if (!table.columns[c].is_hidden) shown.values.push_back(values[c]);
        }
        rows_.push_back(std::move(shown));
      }
    }
  }

  const Application& app_;
  const State& state_;
  std::vector<ShownRow> rows_;
};

}  // namespace

ClaimAnswer ask(const Machine& machine, const State& state, const RowAssertion& claim) {
  return machine.calls().ask(state, claim);
}

ClaimAnswer SqlCalls::ask(const State& state, const RowAssertion& claim) const {
  CommittedRows rows(app(), state);
  NoDatabase none;
  const auto result = run_call_with(app(), program_.changes(), claim.function, {}, none, kMostSteps,
                                    nullptr, nullptr, &rows);
  ClaimAnswer answer;
  if (!result && result.error().is_limit) {
    answer.limit = result.error();
    answer.limit->what = fmt::format("line {}: {}", claim.place.line, result.error().what);
    return answer;
  }
  if (!result || !result->committed) {
    answer.holds = false;
    answer.error = result ? result->why_aborted : result.error().what;
    return answer;
  }
  answer.holds = std::ranges::all_of(result->returned, [](const Value& v) { return is_true(v); });
  if (!answer.holds) answer.rows = rows.take();
  return answer;
}

}  // namespace isoscope::sql::server
