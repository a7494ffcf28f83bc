#include "sql/server/innodb_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/run/call_state.h"
#include "sql/server/row_values.h"
#include "sql/server/rows_in_hand.h"
#include "support/assert.h"

namespace isoscope::sql::server {
namespace {

using Row = TableRow;

void split(const Expr& where, std::vector<const Expr*>& parts) {
  if (where.op != ExprOp::And) {
    parts.push_back(&where);
    return;
  }
  for (const Expr& arg : where.args) split(arg, parts);
}

bool has_columns(const Expr& expr) {
  bool found = false;
  for_each_column(expr, [&](SourceId, ColumnId) { found = true; });
  return found;
}

// The part of WHERE that says what a column is equal to, if it is one.
const Expr* equal_to(const Expr& part, ColumnId column) {
  if (part.op != ExprOp::Equal) return nullptr;
  for (const std::size_t side : {0U, 1U}) {
    const Expr& named = part.args[side];
    const Expr& value = part.args[1 - side];
    const bool is_it =
        named.op == ExprOp::Column && named.source == SourceId{0} && named.column == column;
    if (is_it && !has_columns(value)) return &value;
  }
  return nullptr;
}

// Is some part without columns known not to hold?
Result<bool> fails_at_once(const std::optional<Expr>& where, std::span<const Value> variables) {
  std::vector<const Expr*> parts;
  if (where) split(*where, parts);
  for (const Expr* part : parts) {
    if (has_columns(*part)) continue;
    auto value = evaluate(*part, variables);
    if (!value) return value.error();
    if (!is_true(*value)) return true;
  }
  return false;
}

// The optimizer sees without a row that NULL is in no column that is NOT NULL, and that a key is
// never compared with NULL to any effect.
bool is_known_to_fail(const Application& app, const ById<SourceId, TableId>& sources,
                      const Expr& part, std::span<const Value> variables) {
  const auto table_of = [&](const Expr& column) -> const Table& {
    return app.table(sources[column.source]);
  };
  if (part.op == ExprOp::IsNull && part.args[0].op == ExprOp::Column)
    return table_of(part.args[0]).columns[part.args[0].column].not_null;
  if (part.op < ExprOp::Equal || part.op > ExprOp::GreaterEqual) return false;
  for (const std::size_t side : {0U, 1U}) {
    const Expr& named = part.args[side];
    const Expr& value = part.args[1 - side];
    if (named.op != ExprOp::Column || has_columns(value)) continue;
    if (!table_of(named).is_key_column(named.column)) continue;
    const auto result = evaluate(value, variables);
    if (result && result->is_null()) return true;
  }
  return false;
}

class InnodbRun {
 public:
  InnodbRun(const StatementContext& context, Running& running)
      : context_(context),
        running_(running),
        statement_(*running.result.statement),
        variables_(running.result.variables) {}

  Attempt go_on() {
    if (const auto* insert = statement_.find<Insert>()) return run_insert(*insert);
    return touch();
  }

 private:
  using Kind = Attempt::Kind;
  static Attempt fail(std::string number, std::string message) {
    return {.kind = Kind::Failed, .failure = {std::move(number), std::move(message)}};
  }
  static Attempt fail(const Error& error) { return fail("", error.what); }
  static Attempt wait(std::vector<TxnNo> blockers) {
    return {.kind = Kind::Waits, .blockers = std::move(blockers)};
  }

  bool is_query() const { return statement_.is_query(); }
  TableId table_id() const {
    return is_query() ? statement_.query()->sources.front() : statement_.write()->table;
  }
  const Table& table() const { return context_.app.table(table_id()); }
  const std::optional<Expr>& where() const {
    return is_query() ? statement_.query()->where : statement_.searched()->where;
  }
  bool is_repeatable() const { return context_.keeps_snapshot; }

  void note_read(RowId id, std::uint32_t version) {
    running_.result.reads.push_back(
        {id, version, context_.storage.row(id).versions[version].creator});
  }

  // --- SELECT with a lock, UPDATE, DELETE: of one row, by its key

  Attempt touch() {
    auto fails = fails_at_once(where(), variables_);
    if (!fails) return fail(fails.error());
    if (*fails) return {};
    std::vector<Value> key;
    const auto equals = key_of_where(table(), where());
    ISO_ASSERT(equals.has_value());
    for (const Expr* expr : *equals) {
      auto value = evaluate(*expr, variables_);
      if (!value) return fail(value.error());
      if (value->is_null()) return {};
      key.push_back(*std::move(value));
    }
    const auto id = context_.storage.find_row(table_id(), key);
    if (!id) {
      if (is_repeatable())
        context_.storage.index().lock_gap(context_.storage.next_record(table_id(), key),
                                          context_.txn);
      return {};
    }
    const IndexLocks::Record record{table_id(), key};
    const IndexLocks::Request request{.txn = context_.txn,
                                      .is_shared = statement_.lock() == Lock::Share,
                                      .keeps_gaps = is_repeatable()};
    IndexLocks::Answer answer = context_.storage.index().lock(record, request);
    if (!answer.blockers.empty()) return wait(std::move(answer.blockers));
    // At READ COMMITTED a lock that was not waited for is given back if its row is not wanted.
    const bool is_short = !is_repeatable() && answer.is_new && !running_.result.has_waited;
    const auto latest = static_cast<std::uint32_t>(context_.storage.row(*id).versions.size() - 1);
    const RowValues values = context_.storage.row(*id).versions[latest].values;
    if (values == nullptr) {
      if (is_short) context_.storage.index().release(record, request);
      return {};
    }
    note_read(*id, latest);
    RowsInHand row({values.get()});
    auto holds = evaluate(*where(), variables_, row);
    if (!holds) return fail(holds.error());
    if (!is_true(*holds)) {
      if (is_short && !is_query()) context_.storage.index().release(record, request);
      return {};
    }
    return is_query() ? select(row) : write(*id, *values);
  }

  Attempt select(RowsInHand& row) {
    std::vector<Value> outputs;
    for (const Output& output : statement_.query()->outputs) {
      if (!running_.needs.outputs) break;
      auto value = evaluate(output.expr, variables_, row);
      if (!value) return fail(value.error());
      outputs.push_back(*std::move(value));
    }
    running_.result.rows.push_back(std::move(outputs));
    running_.result.num_rows = 1;
    return {};
  }

  Attempt write(RowId id, const Row& from) {
    const auto* update = statement_.find<Update>();
    if (update == nullptr) {
      add_version(id, nullptr);
      return {};
    }
    Row to = from;
    for (const SetColumn& set : update->sets) {
      RowsInHand row({&to});
      auto value = evaluate(set.value, variables_, row);
      if (!value) return fail(value.error());
      to[set.column] = kept_in(table().columns[set.column].width, *std::move(value));
    }
    if (to == from) return {};
    if (Attempt valid = check(to); valid.kind != Kind::Done) return valid;
    add_version(id, std::make_shared<const Row>(std::move(to)));
    return {};
  }

  void add_version(RowId id, RowValues values) {
    context_.storage.add_version(id, std::move(values), context_.txn, running_.result.command,
                                 true);
    running_.result.writes.push_back(id);
    ++running_.result.num_rows;
  }

  Attempt check(const Row& row) const {
    const auto broken = broken_constraint(table(), row);
    if (!broken) return {};
    switch (broken->kind) {
      case BrokenConstraint::Kind::NotNull: return fail("1048", broken->message);
      case BrokenConstraint::Kind::Check: return fail("4025", broken->message);
      case BrokenConstraint::Kind::Error: break;
    }
    return fail("", broken->message);
  }

  // --- INSERT

  Attempt run_insert(const Insert& insert) {
    if (!running_.has_begun) {
      running_.has_begun = true;
      auto row = inserted_row(context_, insert, variables_);
      if (!row) return fail(row.error());
      running_.inserted = *std::move(row);
      if (Attempt valid = check(running_.inserted); valid.kind != Kind::Done) return valid;
    }
    Storage& storage = context_.storage;
    const std::vector<Value> key = columns_of(running_.inserted, table().primary_key);
    const IndexLocks::Record record{table_id(), key};
    const auto values = std::make_shared<const Row>(running_.inserted);
    const auto id = storage.find_row(table_id(), key);
    if (!id) {
      const IndexLocks::Record next = storage.next_record(table_id(), key);
      auto blockers = storage.index().gap_blockers(next, context_.txn);
      if (!blockers.empty()) return wait(std::move(blockers));
      const RowId placed =
          storage.add_row(table_id(), values, context_.txn, running_.result.command);
      storage.index().split(record, next, context_.txn);
      running_.result.writes.push_back(placed);
      running_.result.num_rows = 1;
      return {};
    }
    // Shared first, to see whether it is deleted; then exclusively, to use it again.
    for (const bool is_shared : {true, false}) {
      IndexLocks::Answer answer = storage.index().lock(
          record, {.txn = context_.txn, .is_shared = is_shared, .keeps_gaps = is_repeatable()});
      if (!answer.blockers.empty()) return wait(std::move(answer.blockers));
      if (!storage.row(*id).versions.back().is_deleted())
        return fail("1062", fmt::format("{} has a row with the same key already", table().name));
    }
    add_version(*id, values);
    return {};
  }

  const StatementContext& context_;
  Running& running_;
  const Statement& statement_;
  const std::vector<Value>& variables_;
};

}  // namespace

bool is_plain_read(const Statement& statement) {
  return statement.is_query() && statement.lock() == Lock::None;
}

bool asks_storage(const Application& app, const Statement& statement,
                  std::span<const Value> variables) {
  const Query& query = *statement.query();
  if (query.sources.empty()) return false;
  if (query.limit) {
    const auto limit = evaluate(*query.limit, variables);
    if (limit && *limit == Value(std::int64_t{0})) return false;
  }
  const auto fails = fails_at_once(query.where, variables);
  if (fails && *fails) return false;
  std::vector<const Expr*> parts;
  if (query.where) split(*query.where, parts);
  return std::ranges::none_of(parts, [&](const Expr* part) {
    return is_known_to_fail(app, query.sources, *part, variables);
  });
}

std::optional<std::vector<const Expr*>> key_of_where(const Table& table,
                                                     const std::optional<Expr>& where) {
  std::vector<const Expr*> parts;
  if (where) split(*where, parts);
  std::vector<const Expr*> key;
  for (const ColumnId column : table.primary_key) {
    const Expr* found = nullptr;
    for (const Expr* part : parts) {
      const Expr* value = equal_to(*part, column);
      if (value != nullptr && found != nullptr) return std::nullopt;
      if (value != nullptr) found = value;
    }
    if (found == nullptr) return std::nullopt;
    key.push_back(found);
  }
  return key;
}

bool repeats_known_column(const std::optional<Expr>& where) {
  std::vector<const Expr*> parts;
  if (where) split(*where, parts);
  std::set<std::pair<SourceId, ColumnId>> known;
  for (const Expr* part : parts) {
    if (part->op != ExprOp::Equal) continue;
    for (const std::size_t side : {0U, 1U}) {
      const Expr& named = part->args[side];
      if (named.op == ExprOp::Column && !has_columns(part->args[1 - side]))
        known.emplace(named.source, named.column);
    }
  }
  std::set<std::pair<SourceId, ColumnId>> seen;
  for (const Expr* part : parts) {
    std::set<std::pair<SourceId, ColumnId>> mentioned;
    for_each_column(*part,
                    [&](SourceId source, ColumnId column) { mentioned.emplace(source, column); });
    for (const auto& column : mentioned) {
      if (known.contains(column) && !seen.insert(column).second) return true;
    }
  }
  return false;
}

Attempt go_on_innodb(const StatementContext& context, Running& running) {
  return InnodbRun(context, running).go_on();
}

}  // namespace isoscope::sql::server
