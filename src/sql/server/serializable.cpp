// SERIALIZABLE: no cycle of dependencies whose transactions are all SERIALIZABLE.
//
// The server finds dangerous structures (two rw edges in a row) among row, page and table locks, so
// it aborts more than those that are in a cycle, and perhaps another one of it. What it lets commit
// has no cycle; and what has none might commit.
#include <algorithm>

#include "sql/run/call_state.h"
#include "sql/server/machine.h"
#include "sql/server/rows_in_hand.h"

namespace isoscope::sql::server {
namespace {

class Dependencies {
 public:
  Dependencies(const Machine& machine, const State& state, TxnNo last)
      : state_(state), edges_(state.txns.size()) {
    for (const TxnNo txn : state.of_calls()) {
      if (machine.level(txn) != PgLevel::Serializable) continue;
      if (txn == last || state.txns[txn].status == TxnStatus::Committed) nodes_.insert(txn);
    }
    add_writes();
    add_sessions(machine.outline());
    for (const TxnNo txn : state.of_calls()) {
      if (!nodes_.contains(txn)) continue;
      for (const auto& result : state.txns[txn].log) add_reads(txn, *result);
    }
  }

  bool is_on_cycle(TxnNo txn) const {
    TxnNoSet reached;
    std::vector<TxnNo> stack = {txn};
    while (!stack.empty()) {
      const TxnNo at = stack.back();
      stack.pop_back();
      for (const TxnNo to : edges_[at]) {
        if (to == txn) return true;
        if (reached.contains(to)) continue;
        reached.insert(to);
        stack.push_back(to);
      }
    }
    return false;
  }

 private:
  void add(TxnNo from, TxnNo to) {
    if (from != to && nodes_.contains(from) && nodes_.contains(to)) edges_[from].push_back(to);
  }

  // so: who has ended is in the snapshot of whoever comes behind in its session, as one who was
  // read from is. So a cycle with such an edge has two rw edges in a row, too, and the server finds
  // it.
  void add_sessions(const Outline& outline) {
    for (const Session& session : outline.sessions) {
      for (CallId a = session.first; a < session.end(); ++a) {
        for (CallId b{a.index + 1}; b < session.end(); ++b) add(txn_of(a), txn_of(b));
      }
    }
  }

  // ww: versions of a row follow each other.
  void add_writes() {
    for (const TableId table : state_.storage.tables()) {
      for (const StoredRow& row : state_.storage.table(table).rows) {
        for (std::size_t v = 1; v < row.versions.size(); ++v) {
          for (std::size_t u = 0; u < v; ++u) add(row.versions[u].creator, row.versions[v].creator);
        }
      }
    }
  }

  // wr and rw: a version counts for a statement if it, or the one that it replaces, meets what
  // WHERE says about its source alone.
  void add_reads(TxnNo txn, const StatementResult& result) {
    const Statement& statement = *result.statement;
    // Statements of `.txn` programs (blocks) look for no rows.
    if (statement.is<Insert>() || statement.is<Block>()) {
      for (const ReadVersion& read : result.reads) add_item(txn, read);
      return;
    }
    const Query* query = statement.query();
    const ById<SourceId, TableId> sources =
        query != nullptr ? query->sources : ById<SourceId, TableId>{statement.write()->table};
    const auto& where = query != nullptr ? query->where : statement.searched()->where;
    for (const SourceId source : sources.ids()) {
      std::vector<const Expr*> parts;
      if (where) add_parts(*where, source, parts);
      for (const StoredRow& row : state_.storage.table(sources[source]).rows) {
        bool matched_before = false;
        for (const Version& version : row.versions) {
          const bool matches = !version.is_deleted() &&
                               holds(parts, sources.size(), *version.values, result.variables);
          const bool is_seen = result.snapshot.contains(version.creator);
          if (matches || matched_before)
            add(is_seen ? version.creator : txn, is_seen ? txn : version.creator);
          matched_before = matches;
        }
      }
    }
  }

  void add_item(TxnNo txn, const ReadVersion& read) {
    const auto& versions = state_.storage.row(read.row).versions;
    for (std::size_t v = 0; v < versions.size(); ++v) {
      if (v <= read.version) {
        add(versions[v].creator, txn);
      } else {
        add(txn, versions[v].creator);
      }
    }
  }

  static void add_parts(const Expr& where, SourceId source, std::vector<const Expr*>& parts) {
    if (where.op == ExprOp::And) {
      for (const Expr& arg : where.args) add_parts(arg, source, parts);
      return;
    }
    bool is_own = true;
    for_each_column(where, [&](SourceId s, ColumnId) { is_own = is_own && s == source; });
    if (is_own) parts.push_back(&where);
  }

  // The parts look at one source only, so the row may stand for all of them.
  static bool holds(const std::vector<const Expr*>& parts, std::size_t num_sources,
                    const TableRow& values, std::span<const Value> variables) {
    RowsInHand rows(ById<SourceId, const TableRow*>(num_sources, &values));
    return std::ranges::all_of(parts, [&](const Expr* part) {
      const auto value = evaluate(*part, variables, rows);
      return !value || is_true(*value);
    });
  }

  const State& state_;
  TxnNoSet nodes_;
  ById<TxnNo, std::vector<TxnNo>> edges_;
};

}  // namespace

bool closes_cycle(const Machine& machine, const State& state, TxnNo txn) {
  return Dependencies(machine, state, txn).is_on_cycle(txn);
}

}  // namespace isoscope::sql::server
