// A replayed run as a history.
#include <fmt/format.h>

#include <algorithm>

#include "audit/replay_view.h"
#include "history/builder.h"

namespace isoscope::audit {

using sql::Value;

std::string print(const sql::Application& app, const LocationKey& location) {
  const sql::Table& table = app.table(location.table);
  std::string row;
  for (const Value& part : location.row) row += (row.empty() ? "" : ", ") + sql::print(part);
  if (location.column == kPresence) return fmt::format("{}[{}]", table.name, row);
  if (location.column < kPresence)
    return fmt::format("{}[{}].{}", table.name, row, table.columns[location.column].name);
  std::string columns;
  for (const std::uint32_t column : table.unique[location.column - kUniqueEntry])
    columns += (columns.empty() ? "" : ", ") + table.columns[column].name;
  return fmt::format("{} unique ({})[{}]", table.name, columns, row);
}

std::optional<ReplayHistory> to_history(const Problem& problem, const Scenario& scenario,
                                        const std::vector<CallTrace>& traces, bool observe_end) {
  HistoryBuilder builder(InitialValues::Nil);
  const bool has_row_keys = rules_of(problem).conflicts == Conflicts::Rows;
  const auto key_of = [&](const LocationKey& location) {
    return builder.key(print(problem.app, location));
  };
  const auto value_of = [&](const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value.data))
      return isoscope::Value::of(*number);
    if (const auto* truth = std::get_if<bool>(&value.data))
      return isoscope::Value::of(std::int64_t{*truth ? 1 : 0});
    return builder.text(sql::print(value));
  };
  const auto name_of_call = [](std::size_t call) { return fmt::format("T{}", call + 1); };
  const auto done = [&](std::size_t call) {
    return builder.key(fmt::format("done {}", name_of_call(call)));
  };
  for (const sql::InitialRow& row : scenario.rows) {
    const sql::Table& table = problem.app.table(row.table);
    const sql::RowKey key = audit::key_of(table, row);
    const auto set_initial = [&](std::uint32_t column, const Value& value) {
      const LocationKey location{row.table, key, column};
      const bool is_used = std::ranges::any_of(traces, [&](const CallTrace& trace) {
        return trace.reads.contains(location) || trace.writes.contains(location);
      });
      if (is_used && !value.is_null()) builder.set_initial(key_of(location), value_of(value), {});
    };
    set_initial(kPresence, Value(true));
    for (std::uint32_t c = 0; c < table.columns.size(); ++c) {
      if (!table.is_key_column(c)) set_initial(c, row.values[c]);
    }
  }
  for (std::size_t call = 0; call < scenario.calls.size(); ++call) {
    const SessionId session = builder.session(fmt::format("s{}", call + 1));
    const TxnId t = builder.begin(session, TxnStatus::Committed, {});
    builder.set_name(t, name_of_call(call));
    const auto add_read = [&](const LocationKey& location, std::optional<std::size_t> writer) {
      builder.read_from(t, key_of(location), writer ? name_of_call(*writer) : "T0", {});
    };
    for (const StatementRead& read : traces[call].statement_reads) add_read(read.at, read.writer);
    for (const auto& [location, writer] : traces[call].read_from) {
      if (!traces[call].is_per_statement) add_read(location, writer);
    }
    for (const auto& [location, value] : traces[call].writes) {
      builder.write(t, key_of(location), value_of(value), {});
      if (!has_row_keys || location.column >= kUniqueEntry) continue;
      // One key more, for the row as a whole, which every write of it writes.
      builder.write(t,
                    builder.key("row " + problem.app.table(location.table).name + " " +
                                sql::print(Value(location.row))),
                    isoscope::Value::of(static_cast<std::int64_t>(call)), {});
    }
    if (observe_end) builder.write(t, done(call), isoscope::Value::of(1), {});
  }
  if (observe_end) {
    std::map<LocationKey, std::size_t> last;
    for (const std::size_t call : scenario.ar) {
      for (const auto& [location, value] : traces[call].writes) last[location] = call;
    }
    const TxnId end = builder.begin(builder.session("end"), TxnStatus::Committed, {});
    builder.set_name(end, "end");
    for (const auto& [location, call] : last)
      builder.read_from(end, key_of(location), name_of_call(call), {});
    for (std::size_t call = 0; call < scenario.calls.size(); ++call)
      builder.read_from(end, done(call), name_of_call(call), {});
  }
  auto history = std::move(builder).build();
  if (!history) return std::nullopt;
  ReplayHistory result{std::make_unique<History>(std::move(*history)), {}};
  result.witness.framework = Framework::VisAr;
  result.witness.order.push_back(TxnId{0});
  const auto txn_of = [](std::size_t call) { return TxnId{static_cast<std::uint32_t>(call + 1)}; };
  const std::size_t num_txns = scenario.calls.size() + (observe_end ? 2 : 1);
  Relation vis(num_txns);
  for (const std::size_t call : scenario.ar) {
    result.witness.order.push_back(txn_of(call));
    vis.insert(0, txn_of(call).index);
    for (std::size_t other = 0; other < scenario.calls.size(); ++other) {
      if (scenario.sees[call][other]) vis.insert(txn_of(other).index, txn_of(call).index);
    }
  }
  if (observe_end) {
    result.witness.order.push_back(txn_of(scenario.calls.size()));
    for (std::size_t t = 0; t + 1 < num_txns; ++t) vis.insert(t, num_txns - 1);
  }
  result.witness.vis = std::move(vis);
  return result;
}

}  // namespace isoscope::audit
