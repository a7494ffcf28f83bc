// A replayed run as a history.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/replay_view.h"
#include "history/builder.h"

namespace isoscope::audit {

using sql::Value;

std::string print(const sql::Application& app, const LocationKey& location) {
  const sql::Table& table = app.table(location.table);
  std::string row;
  for (const Value& part : location.row) {
    // Equal keys have one name, whatever digits they show.
    const auto* number = std::get_if<sql::Decimal>(&part.data);
    row += row.empty() ? "" : ", ";
    row += number != nullptr ? sql::print(sql::shortest(*number)) : sql::print(part);
  }
  if (location.attribute == kPresence) return fmt::format("{}[{}]", table.name, row);
  if (location.attribute.is_column())
    return fmt::format("{}[{}].{}", table.name, row,
                       table.columns[location.attribute.column()].name);
  std::string columns;
  for (const sql::ColumnId column : table.unique[location.attribute.unique()])
    columns += (columns.empty() ? "" : ", ") + table.columns[column].name;
  return fmt::format("{} unique ({})[{}]", table.name, columns, row);
}

namespace {

// Puts the calls of a scenario into a history: call i is transaction i + 1, in a session of its
// own.
class ReplayWriter {
 public:
  ReplayWriter(const Problem& problem, const Scenario& scenario, const Traces& traces)
      : problem_(problem), scenario_(scenario), traces_(traces) {}

  // The rows that were there, as far as some call touches them.
  void set_initial_rows() {
    for (const sql::InitialRow& row : scenario_.rows) {
      const sql::Table& table = problem_.app.table(row.table);
      const sql::RowKey key = audit::key_of(table, row);
      set_initial({row.table, key, kPresence}, Value(true));
      for (const sql::ColumnId c : table.columns.ids()) {
        if (!table.is_key_column(c)) set_initial({row.table, key, Attribute(c)}, row.values[c]);
      }
    }
  }

  void add(ScenarioCallId call, bool observe_end) {
    const CallTrace& trace = traces_[call];
    const SessionId session = builder_.session(fmt::format("s{}", call.index + 1));
    const TxnId t = builder_.begin(session, TxnStatus::Committed, {});
    builder_.set_name(t, name_of(call));
    const auto add_read = [&](const LocationKey& location, std::optional<ScenarioCallId> writer) {
      builder_.read_from(t, key_of(location), writer ? name_of(*writer) : "T0", {});
    };
    for (const StatementRead& read : trace.statement_reads) add_read(read.at, read.writer);
    for (const auto& [location, writer] : trace.read_from) {
      if (!trace.is_per_statement) add_read(location, writer);
    }
    const bool has_row_keys = rules_of(problem_).conflicts == Conflicts::Rows;
    for (const auto& [location, value] : trace.writes) {
      builder_.write(t, key_of(location), value_of(value), {});
      if (!has_row_keys || location.attribute.is_entry()) continue;
      // One key more, for the row as a whole, which every write of it writes.
      const KeyId row = builder_.key("row " + problem_.app.table(location.table).name + " " +
                                     sql::print(Value(location.row)));
      whole_rows_.insert(row);
      builder_.write(t, row, isoscope::Value::of(std::int64_t{call.index}), {});
    }
    if (observe_end) builder_.write(t, done(call), isoscope::Value::of(1), {});
  }

  // A last transaction that reads what is there in the end, and that every call is done.
  void observe_end() {
    std::map<LocationKey, ScenarioCallId> last;
    for (const ScenarioCallId call : scenario_.ar) {
      for (const auto& [location, value] : traces_[call].writes) last[location] = call;
    }
    const TxnId end = builder_.begin(builder_.session("end"), TxnStatus::Committed, {});
    builder_.set_name(end, "end");
    for (const auto& [location, call] : last)
      builder_.read_from(end, key_of(location), name_of(call), {});
    for (const ScenarioCallId call : scenario_.calls.ids())
      builder_.read_from(end, done(call), name_of(call), {});
  }

  std::vector<KeyId> whole_rows() const { return {whole_rows_.begin(), whole_rows_.end()}; }
  auto build() && { return std::move(builder_).build(); }

 private:
  static std::string name_of(ScenarioCallId call) { return fmt::format("T{}", call.index + 1); }
  KeyId key_of(const LocationKey& location) { return builder_.key(print(problem_.app, location)); }
  KeyId done(ScenarioCallId call) { return builder_.key(fmt::format("done {}", name_of(call))); }
  isoscope::Value value_of(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value.data))
      return isoscope::Value::of(*number);
    if (const auto* truth = std::get_if<bool>(&value.data))
      return isoscope::Value::of(std::int64_t{*truth ? 1 : 0});
    return builder_.text(sql::print(value));
  }
  void set_initial(const LocationKey& location, const Value& value) {
    const bool is_used = std::ranges::any_of(traces_, [&](const CallTrace& trace) {
      return trace.reads.contains(location) || trace.writes.contains(location);
    });
    if (is_used && !value.is_null()) builder_.set_initial(key_of(location), value_of(value), {});
  }

  const Problem& problem_;
  const Scenario& scenario_;
  const Traces& traces_;
  HistoryBuilder builder_{InitialValues::Nil};
  std::set<KeyId> whole_rows_;
};

// The order of commits and who sees whom, as the scenario says; the end sees all.
Witness witness_of(const Scenario& scenario, bool observe_end) {
  Witness witness;
  witness.framework = Framework::VisAr;
  witness.order.push_back(TxnId{0});
  const auto txn_of = [](ScenarioCallId call) { return TxnId{call.index + 1}; };
  const std::size_t num_txns = scenario.calls.size() + (observe_end ? 2 : 1);
  Relation vis(num_txns);
  for (const ScenarioCallId call : scenario.ar) {
    witness.order.push_back(txn_of(call));
    vis.insert(0, txn_of(call).index);
    for (const ScenarioCallId other : scenario.calls.ids()) {
      if (scenario.sees[call][other]) vis.insert(txn_of(other).index, txn_of(call).index);
    }
  }
  if (observe_end) {
    witness.order.push_back(txn_of(scenario.calls.next_id()));
    for (std::size_t t = 0; t + 1 < num_txns; ++t) vis.insert(t, num_txns - 1);
  }
  witness.vis = std::move(vis);
  return witness;
}

}  // namespace

std::optional<ReplayHistory> to_history(const Problem& problem, const Scenario& scenario,
                                        const Traces& traces, bool observe_end) {
  ReplayWriter writer(problem, scenario, traces);
  writer.set_initial_rows();
  for (const ScenarioCallId call : scenario.calls.ids()) writer.add(call, observe_end);
  if (observe_end) writer.observe_end();
  std::vector<KeyId> whole_rows = writer.whole_rows();
  auto history = std::move(writer).build();
  if (!history) return std::nullopt;
  return ReplayHistory{std::make_unique<History>(std::move(*history)),
                       witness_of(scenario, observe_end), std::move(whole_rows)};
}

}  // namespace isoscope::audit
