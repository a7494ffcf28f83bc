#include "sql/server/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "history/builder.h"
#include "sql/run/call_state.h"
#include "sql/run/key_names.h"

namespace isoscope::sql::server {
namespace {

class RunRecorder {
 public:
  RunRecorder(const Machine& machine, const State& state, bool has_plain_names)
      : machine_(machine),
        app_(machine.app()),
        state_(state),
        has_plain_names_(has_plain_names),
        builder_(machine.is_by_key() ? InitialValues::Zero : InitialValues::Nil) {}

  Result<History> record() {
    if (machine_.is_by_key()) {
      add_initial_keys();
    } else {
      builder_.set_header({.source = "isoscope run", .conflicts = "row"});
      add_initial_rows();
    }
    for (const TxnNo txn : state_.of_calls()) {
      for (const auto& result : state_.txns[txn].log) {
        if (!result->writes.empty()) makers_[{txn, result->command}] = result->statement;
      }
    }
    const Outline& outline = machine_.outline();
    for (const TxnNo txn : state_.of_calls()) {
      const TxnState& t = state_.txns[txn];
      if (t.is_left_out) continue;
      const Call& call = outline.calls[call_of(txn)];
      const isoscope::TxnId id =
          builder_.begin(builder_.session(outline.sessions[call.session].name),
                         t.status == TxnStatus::Committed ? isoscope::TxnStatus::Committed
                                                          : isoscope::TxnStatus::Aborted,
                         call.place);
      builder_.set_name(id, name_of(txn));
      for (const auto& result : t.log) {
        if (machine_.is_by_key()) {
          add_accesses(id, txn, *result);
        } else {
          add_statement(id, txn, *result);
        }
      }
    }
    return std::move(builder_).build();
  }

 private:
  std::string name_of(TxnNo txn) const {
    if (txn == kInitialTxn) return "T0";
    const Outline& outline = machine_.outline();
    const Call& call = outline.calls[call_of(txn)];
    const std::string& session = outline.sessions[call.session].name;
    std::string attempt;
    if (call.part > 1) attempt = fmt::format("{}{}", has_plain_names_ ? "p" : "/", call.part);
    if (call.attempt > 1) attempt = fmt::format("{}{}", has_plain_names_ ? "r" : ".", call.attempt);
    return has_plain_names_ ? fmt::format("{}_{}{}", session, call.number, attempt)
                            : fmt::format("{}[{}{}]", session, call.number, attempt);
  }

  std::string row_name(TableId table, const TableRow& values) const {
    std::string name = app_.table(table).name + "[";
    for (const Value& value : columns_of(values, app_.table(table).primary_key))
      name += (name.back() == '[' ? "" : ", ") + index_name(value);
    return name + "]";
  }
  std::string cell_name(TableId table, const TableRow& values, ColumnId c) const {
    return row_name(table, values) + "." + app_.table(table).columns[c].name;
  }

  isoscope::Value value_of(const Value& value) {
    if (value.is_null()) return isoscope::Value::nil();
    if (const auto* number = std::get_if<std::int64_t>(&value.data))
      return isoscope::Value::of(*number);
    if (const auto* truth = std::get_if<bool>(&value.data))
      return isoscope::Value::of(*truth ? 1 : 0);
    if (const auto* text = std::get_if<std::string>(&value.data)) return builder_.text(*text);
    return builder_.text(print(value));
  }

  void add_initial_rows() {
    for (const InitialRow& row : app_.initial_rows) {
      builder_.set_initial(builder_.key(row_name(row.table, row.values)), isoscope::Value::of(1),
                           row.place);
      for (const ColumnId c : row.values.ids()) {
        if (!app_.table(row.table).is_key_column(c))
          builder_.set_initial(builder_.key(cell_name(row.table, row.values, c)),
                               value_of(row.values[c]), row.place);
      }
    }
  }

  // --- keys of a `.txn` program: a row has the name of its key, and one value

  const std::string& key_of(RowId id) const {
    return std::get<std::string>(state_.storage.row(id).versions.front().values->front().data);
  }

  void add_initial_keys() {
    for (const TableId table : state_.storage.tables()) {
      for (const StoredRow& row : state_.storage.table(table).rows) {
        const TableRow& values = *row.versions.front().values;
        builder_.set_initial(builder_.key(std::get<std::string>(values.front().data)),
                             value_of(values.back()), {});
      }
    }
  }

  void add_accesses(isoscope::TxnId id, TxnNo txn, const StatementResult& result) {
    const Place place = result.statement->place;
    builder_.begin_statement(id);
    for (const auto& [row, mode] : result.locks)
      builder_.lock(id, builder_.text(key_of(row)), mode_of(mode), place);
    for (const ReadVersion& read : result.reads)
      add_read(id, txn, key_of(read.row), read.creator, place);
    for (const auto& [row, value] : result.written)
      builder_.write(id, builder_.key(key_of(row)), isoscope::Value::of(value), place);
    builder_.end_statement(id);
  }

  // --- rows of SQL programs

  bool has_same_key(TableId table, const Version& a, const Version& b) const {
    const auto& key = app_.table(table).primary_key;
    return !a.is_deleted() && !b.is_deleted() &&
           columns_of(*a.values, key) == columns_of(*b.values, key);
  }

  // Did the statement that made this version of a row set the column? Also to the value that it
  // had.
  bool sets(const Version& version, ColumnId column) const {
    const auto made = makers_.find({version.creator, version.command});
    if (made == makers_.end()) return false;
    const auto list = sets_of(*made->second);
    return std::ranges::find(list, column, &SetColumn::column) != list.end();
  }

  // What a statement sets in a row that is there.
  static std::span<const SetColumn> sets_of(const Statement& s) {
    if (const auto* insert = s.find<Insert>()) return insert->conflict_sets;
    if (const auto* update = s.find<Update>()) return update->sets;
    return {};
  }

  // Who gave the cell the value that this version has: the last who set it, under this key.
  TxnNo writer_of(RowId id, std::uint32_t version, std::optional<ColumnId> column) const {
    const auto& versions = state_.storage.row(id).versions;
    std::size_t v = version;
    while (v > 0 && has_same_key(id.table, versions[v - 1], versions[v]) &&
           !(column && sets(versions[v], *column)))
      --v;
    return versions[v].creator;
  }

  // Columns that the statement looks at, of any source that is this table.
  std::set<ColumnId> mentioned(const Statement& s, TableId table) const {
    std::set<ColumnId> columns;
    const Query* query = s.query();
    const auto look = [&](const Expr& expr) {
      for_each_column(expr, [&](SourceId source, ColumnId column) {
        const bool is_here =
            query != nullptr ? query->sources.contains(source) && query->sources[source] == table
                             : source == SourceId{0};
        if (is_here && !app_.table(table).is_key_column(column)) columns.insert(column);
      });
    };
    if (query != nullptr) {
      if (query->where) look(*query->where);
      for (const Output& output : query->outputs) look(output.expr);
      for (const OrderBy& by : query->order_by) look(by.expr);
    }
    if (s.searched() != nullptr && s.searched()->where) look(*s.searched()->where);
    if (const auto* insert = s.find<Insert>(); insert != nullptr && insert->conflict_where)
      look(*insert->conflict_where);
    for (const SetColumn& set : sets_of(s)) look(set.value);
    return columns;
  }

  void add_statement(isoscope::TxnId id, TxnNo txn, const StatementResult& result) {
    const Statement& s = *result.statement;
    builder_.begin_statement(id);
    for (const ReadVersion& read : result.reads) {
      const auto& versions = state_.storage.row(read.row).versions;
      // Versions of an aborted transaction are gone, and with them what it read of its own.
      if (read.version >= versions.size() || versions[read.version].creator != read.creator ||
          versions[read.version].is_deleted())
        continue;
      const TableRow& values = *versions[read.version].values;
      const std::string row = row_name(read.row.table, values);
      if (s.lock() != Lock::None) builder_.lock(id, builder_.text(row), mode_of(s.lock()), s.place);
      add_read(id, txn, row, writer_of(read.row, read.version, std::nullopt), s.place);
      for (const ColumnId c : mentioned(s, read.row.table))
        add_read(id, txn, cell_name(read.row.table, values, c),
                 writer_of(read.row, read.version, c), s.place);
    }
    for (const sql::server::RowId row : result.writes) add_writes(id, txn, row, result);
    builder_.end_statement(id);
  }

  static LockMode mode_of(Lock lock) {
    if (lock == Lock::KeyShare) return LockMode::KeyShare;
    return lock == Lock::Share ? LockMode::Share : LockMode::Exclusive;
  }

  void add_read(isoscope::TxnId id, TxnNo reader, const std::string& key, TxnNo writer,
                Place place) {
    if (writer != reader) builder_.read_from(id, builder_.key(key), name_of(writer), place);
  }

  void add_writes(isoscope::TxnId id, TxnNo txn, sql::server::RowId row,
                  const StatementResult& result) {
    const Place place = result.statement->place;
    const auto& versions = state_.storage.row(row).versions;
    for (std::size_t v = 0; v < versions.size(); ++v) {
      if (versions[v].creator != txn || versions[v].command != result.command) continue;
      const Version* before = v > 0 ? &versions[v - 1] : nullptr;
      const bool stays = before != nullptr && has_same_key(row.table, *before, versions[v]);
      if (before != nullptr && !stays && !before->is_deleted())
        builder_.write(id, builder_.key(row_name(row.table, *before->values)),
                       isoscope::Value::nil(), place);
      if (versions[v].is_deleted()) continue;
      const TableRow& values = *versions[v].values;
      if (!stays)
        builder_.insert(id, builder_.key(row_name(row.table, values)), isoscope::Value::of(1),
                        place);
      for (const ColumnId c : values.ids()) {
        if (app_.table(row.table).is_key_column(c)) continue;
        if (!stays || sets(versions[v], c))
          builder_.write(id, builder_.key(cell_name(row.table, values, c)), value_of(values[c]),
                         place);
      }
    }
  }

  const Machine& machine_;
  const Application& app_;
  const State& state_;
  bool has_plain_names_;
  HistoryBuilder builder_;
  std::map<std::pair<TxnNo, CommandNo>, const Statement*> makers_;
};

}  // namespace

Result<History> to_history(const Machine& machine, const State& state, bool has_plain_names) {
  return RunRecorder(machine, state, has_plain_names).record();
}

}  // namespace isoscope::sql::server
