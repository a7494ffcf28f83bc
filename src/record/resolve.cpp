#include "record/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "record/accesses.h"
#include "record/rollbacks.h"

namespace isoscope::record {

bool is_harmless(StatementKind kind) {
  switch (kind) {
    case StatementKind::Savepoint:
    case StatementKind::Release:
    case StatementKind::RollbackTo:
    case StatementKind::SetTransaction:
    case StatementKind::SetSession:
    case StatementKind::Setting:
      return true;
    default:
      return false;
  }
}

void doubt(RecordedTxn& txn, const std::string& why) {
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    if (!is_harmless(txn.statements[i].kind)) txn.gaps.push_back({i + 1, why});
  }
}

namespace {

constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

bool is_write(StatementKind kind) {
  return kind == StatementKind::Insert || kind == StatementKind::Update ||
         kind == StatementKind::Delete;
}

// An error that tells the application nothing about rows: it conflicted, or was never run.
bool tells_nothing(const std::string& sqlstate) {
  for (const char* family : {"40", "42", "25", "26", "34", "57"}) {
    if (sqlstate.starts_with(family)) return true;
  }
  return false;
}

class Resolver {
 public:
  Resolver(std::vector<std::pair<std::string, RecordedTxn>> txns, const Catalog& catalog,
           Versions& versions, const DecodedLog& log, Matches& matches, Gatekeeper& gates,
           bool is_cut)
      : catalog_(catalog),
        versions_(versions),
        log_(log),
        gates_(gates),
        is_cut_(is_cut),
        accesses_(catalog, versions, matches) {
    for (std::pair<std::string, RecordedTxn>& each : txns) {
      Work work;
      work.out = {std::move(each.first),
                  fmt::format("T{}", works_.size() + 1),
                  std::move(each.second),
                  {},
                  0};
      work.shapes.resize(work.out.txn.statements.size());
      work.messages.resize(work.out.txn.statements.size());
      works_.push_back(std::move(work));
    }
  }

  ResolvedRun run() {
    find_shapes();
    find_altered();
    pair_messages();
    find_ids();
    match_the_rest();
    for (Work& work : works_) names_[work.own] = work.out.id;
    names_[kInitialXid] = "T0";
    add_strangers();
    for (const Work& work : works_) {
      if (work.own != 0) by_id_[work.own] = &work;
    }
    for (Work& work : works_) find_assigned(work);
    for (Work& work : works_) read(work);
    write();
    ResolvedRun resolved{.txns = {}, .initial = accesses_.initial_values()};
    for (Work& work : works_) resolved.txns.push_back(std::move(work.out));
    return resolved;
  }

 private:
  struct Work {
    ResolvedTxn out;
    std::uint64_t own = 0;  // its id in the log; 0 if it has none, or it is not known
    std::vector<std::shared_ptr<const Shape>> shapes;
    std::vector<const GateMessage*> messages;
    std::vector<std::vector<Access>> reads = {};
    std::vector<std::size_t> undone = {};             // by statement: undone_at()
    std::vector<std::set<std::string>> changed = {};  // by statement: the rows that it wrote
    std::vector<bool> knows_changed = {};
  };

  void find_shapes() {
    for (Work& work : works_) {
      for (std::size_t i = 0; i < work.shapes.size(); ++i) {
        const RecordedStatement& statement = work.out.txn.statements[i];
        if (!has_shape(statement.kind)) continue;
        work.shapes[i] = statement.shape;
        // The blocks of a query hold the constants of the text that they were read from.
        if (statement.shape == nullptr ||
            (statement.shape->is_query && !statement.shape->literals.empty()))
          work.shapes[i] = gates_.exact_shape(statement.sql, statement.kind);
      }
    }
  }

  // Tables that were dropped, made anew or altered, perhaps: what is known of their rows may be
  // that of another table. Any statement that we do not understand and that has the name counts.
  void find_altered() {
    for (const Work& work : works_) {
      for (std::size_t i = 0; i < work.shapes.size(); ++i) {
        const RecordedStatement& statement = work.out.txn.statements[i];
        if (statement.kind != StatementKind::Other || !statement.error.empty()) continue;
        for (const auto& [name, table] : catalog_.tables) {
          if (statement.sql.find(table.name) != std::string::npos) altered_.insert(&table);
        }
      }
    }
  }

  // Messages and executions of one gate are in the same order. Where their numbers differ, those of
  // statements that failed may be missing; beyond that it is not known which belong together.
  void pair_messages() {
    std::map<std::uint64_t, std::vector<const GateMessage*>> messages;
    for (const GateMessage& message : log_.messages) messages[message.gate].push_back(&message);
    struct Place {
      Work* work;
      std::size_t statement;
    };
    std::map<std::uint64_t, std::vector<Place>> executions;
    for (Work& work : works_) {
      for (std::size_t i = 0; i < work.messages.size(); ++i) {
        const std::uint64_t gate = work.out.txn.statements[i].gate;
        if (gate != 0) executions[gate].push_back({&work, i});
      }
    }
    for (auto& [gate, places] : executions) {
      std::vector<const GateMessage*>& sent = messages[gate];
      const auto failed = [](const Place& place) {
        return !place.work->out.txn.statements[place.statement].error.empty();
      };
      // A row that was waited for may run the gate again, with the same snapshot.
      if (places.size() == 1 && sent.size() > 1) sent.erase(sent.begin() + 1, sent.end());
      if (is_cut_ && !std::ranges::any_of(places, failed)) leave_out_unended(sent, places.size());
      if (sent.size() != places.size()) std::erase_if(places, failed);
      if (sent.size() != places.size()) continue;
      for (std::size_t i = 0; i < places.size(); ++i)
        places[i].work->messages[places[i].statement] = sent[i];
    }
  }

  // The last messages of a log that was cut are of transactions that had not ended. Two equal ones
  // may be of one statement, so that it is not known which are the last.
  static void leave_out_unended(std::vector<const GateMessage*>& sent, std::size_t ended) {
    const auto is_same = [](const GateMessage* a, const GateMessage* b) {
      return a->snapshot == b->snapshot && a->xid == b->xid && a->isolation == b->isolation;
    };
    if (sent.size() > ended && std::ranges::adjacent_find(sent, is_same) == sent.end())
      sent.resize(ended);
  }

  void find_ids() {
    for (Work& work : works_) {
      RecordedTxn& txn = work.out.txn;
      for (const GateMessage* message : work.messages) {
        if (message == nullptr) continue;
        if (!message->isolation.empty()) txn.isolation = message->isolation;
        if (message->xid != 0) work.own = message->xid;
      }
      claim(work);
    }
  }

  // The log knows whether a transaction committed whose end was not seen.
  void claim(Work& work) {
    if (work.own == 0) return;
    claimed_.insert(work.own);
    work.out.commit = versions_.commit_place(work.own);
    if (work.out.txn.status == TxnStatus::Unknown && work.out.commit != 0)
      work.out.txn.status = TxnStatus::Committed;
  }

  // The tables that a transaction wrote.
  static std::string signature(const std::set<std::string>& tables) {
    std::string out;
    for (const std::string& table : tables) out += table + " ";
    return out;
  }

  void match_the_rest() {
    std::map<std::string, std::vector<Work*>> recorded;
    for (Work& work : works_) {
      if (work.own != 0 || work.out.txn.status != TxnStatus::Committed) continue;
      std::set<std::string> tables;
      for (std::size_t i = 0; i < work.shapes.size(); ++i) {
        if (work.shapes[i] == nullptr || !is_write(work.shapes[i]->kind)) continue;
        const Table* table = catalog_.find(work.shapes[i]->schema, work.shapes[i]->table);
        if (table != nullptr) tables.insert(table->full_name());
      }
      if (!tables.empty()) recorded[signature(tables)].push_back(&work);
    }
    std::map<std::string, std::vector<const LogTxn*>> logged;
    for (const LogTxn& txn : log_.txns) {
      if (claimed_.contains(txn.xid) || versions_.commit_place(txn.xid) == 0) continue;
      std::set<std::string> tables;
      for (const LogChange& change : txn.changes) {
        const auto partition = catalog_.partitions.find(change.table);
        tables.insert(partition == catalog_.partitions.end() ? change.table : partition->second);
      }
      logged[signature(tables)].push_back(&txn);
    }
    for (auto& [tables, works] : recorded) {
      const auto found = logged.find(tables);
      if (works.size() != 1 || found == logged.end() || found->second.size() != 1) continue;
      works[0]->own = found->second[0]->xid;
      claim(*works[0]);
    }
  }

  // Transactions that did not go through the proxy, or that could not be told apart.
  void add_strangers() {
    for (const LogTxn& txn : log_.txns) {
      if (claimed_.contains(txn.xid) || versions_.commit_place(txn.xid) == 0) continue;
      Work work;
      work.own = txn.xid;
      work.out.session = fmt::format("log-{}", txn.xid);
      work.out.id = fmt::format("X{}", txn.xid);
      work.out.txn.status = TxnStatus::Committed;
      work.out.txn.isolation = "unknown";
      work.out.txn.statements.push_back({.sql = "(in the server's log only)"});
      work.out.txn.gaps.push_back({0, "changes of a transaction that the recorder did not see"});
      work.out.commit = versions_.commit_place(txn.xid);
      work.shapes.emplace_back();
      work.messages.push_back(nullptr);
      names_[txn.xid] = work.out.id;
      works_.push_back(std::move(work));
    }
  }

  // Why the statement cannot be understood, as far as that is known without looking at versions.
  std::string obstacle(const Work& work, std::size_t i, const Table*& table) const {
    const RecordedTxn& txn = work.out.txn;
    const RecordedStatement& statement = txn.statements[i];
    if (work.shapes[i] == nullptr) return "neither SELECT, INSERT, UPDATE nor DELETE";
    const Shape& shape = *work.shapes[i];
    if (!shape.gap.empty()) return shape.gap;
    for (const std::string& function : shape.functions) {
      if (catalog_.user_functions.contains(function))
        return "a function that may read or write inside";
    }
    if (!statement.error.empty() &&
        (statement.error != "23505" || shape.kind != StatementKind::Insert))
      return "it failed with " + statement.error;
    if (!shape.reads_tables) return {};
    for (const std::string& function : shape.condition_functions) {
      if (catalog_.unstable_functions.contains(function))
        return "a condition that depends on more than the row";
    }
    for (std::size_t j = i + 1; shape.is_cursor && j < work.shapes.size(); ++j) {
      if (is_write(txn.statements[j].kind)) return "a cursor beside writes of its transaction";
    }
    if (work.messages[i] == nullptr && shape.is_query) return "its snapshot is not in the log";
    if (shape.is_query) {
      for (const Block& block : shape.blocks) {
        for (const BlockTable& mentioned : block.tables) {
          const Table* one = nullptr;
          if (auto why = unreadable(work, i, mentioned.schema, mentioned.name, one); !why.empty())
            return why;
        }
      }
      return {};
    }
    if (auto why = unreadable(work, i, shape.schema, shape.table, table); !why.empty()) return why;
    if (is_write(shape.kind) && !table->no_writes.empty()) return table->no_writes;
    if (work.messages[i] == nullptr && shape.kind != StatementKind::Insert)
      return "its snapshot is not in the log";
    if (is_write(shape.kind) && txn.status == TxnStatus::Committed && work.own == 0 &&
        !statement.tag.ends_with(" 0"))
      return "its changes cannot be told from those of others";
    return {};
  }

  // Why what the statement read of this table cannot be computed.
  std::string unreadable(const Work& work, std::size_t i, const std::string& schema,
                         const std::string& name, const Table*& table) const {
    table = catalog_.find(schema, name);
    if (table == nullptr) return "a table that is not there, or that two schemas have";
    if (!table->no_reads.empty()) return table->no_reads;
    if (altered_.contains(table)) return "a table that other statements may have changed";
    const TableVersions* versions = versions_.of(*table);
    if (versions == nullptr || !versions->trouble.empty())
      return versions == nullptr ? "a table without versions" : versions->trouble;
    const auto lost = lost_rows(work, i, *table);
    return !lost || (work.shapes[i]->is_query && !lost->empty())
               ? "rows of its own that were rolled back later"
               : std::string();
  }

  // The rows of the table that the transaction had written when the statement ran, and of which the
  // log has nothing, since that was rolled back later; nothing if they are not known.
  std::optional<std::set<std::string>> lost_rows(const Work& work, std::size_t i,
                                                 const Table& table) const {
    const auto& statements = work.out.txn.statements;
    std::set<std::string> lost;
    for (std::size_t j = 0; j < i; ++j) {
      if (is_harmless(statements[j].kind) || !statements[j].error.empty()) continue;
      const bool is_undone = work.undone[j] < i;
      const bool is_logged =
          work.out.txn.status == TxnStatus::Committed && work.undone[j] == statements.size();
      if (is_undone || is_logged) continue;
      if (work.shapes[j] == nullptr || !work.shapes[j]->gap.empty()) return std::nullopt;
      if (!is_write(work.shapes[j]->kind)) continue;
      const Table* other = catalog_.find(work.shapes[j]->schema, work.shapes[j]->table);
      if (other != nullptr && other != &table) continue;
      if (other == nullptr || !work.knows_changed[j]) return std::nullopt;
      lost.insert(work.changed[j].begin(), work.changed[j].end());
    }
    return lost;
  }

  // Was the version certainly written after the statement had ended? All statements of its writer
  // were sent when that end was known.
  bool is_later(const RecordedStatement& ended, const Version& version) const {
    const auto writer = by_id_.find(version.xid);
    return writer != by_id_.end() &&
           std::ranges::all_of(writer->second->out.txn.statements,
                               [&](const auto& statement) { return statement.sent > ended.end; });
  }

  // A later snapshot of the transaction, while it holds all locks that statement `i` took.
  static const GateMessage* next_snapshot(const Work& work, std::size_t i) {
    if (work.out.txn.isolation != "read committed") return nullptr;
    for (std::size_t j = i + 1; j < work.messages.size() && j < work.undone[i]; ++j) {
      if (work.messages[j] != nullptr && !(work.shapes[j] && work.shapes[j]->is_cursor))
        return work.messages[j];
    }
    return nullptr;
  }

  // Changes of this statement lie between its message and the next one of its transaction.
  void find_window(const Work& work, std::size_t i, Execution& run) const {
    run.from = 0;
    run.to = kEnd;
    if (work.messages[i] != nullptr) run.from = work.messages[i]->lsn;
    const auto tells = [&](std::size_t j) {
      return work.messages[j] != nullptr && !(work.shapes[j] && work.shapes[j]->is_cursor);
    };
    for (std::size_t j = i; work.messages[i] == nullptr && j-- > 0;) {
      if (!tells(j)) continue;
      run.from = work.messages[j]->lsn;
      break;
    }
    for (std::size_t j = i + 1; j < work.messages.size(); ++j) {
      if (!tells(j)) continue;
      run.to = work.messages[j]->lsn;
      break;
    }
  }

  // Tells the versions which columns their statements set.
  void find_assigned(Work& work) {
    const auto& statements = work.out.txn.statements;
    work.undone = undone_at(work.out.txn);
    for (std::size_t i = 0; work.own != 0 && i < statements.size(); ++i) {
      if (work.shapes[i] == nullptr || work.shapes[i]->set_columns.empty() ||
          work.undone[i] != statements.size())
        continue;
      const Table* table = catalog_.find(work.shapes[i]->schema, work.shapes[i]->table);
      if (table == nullptr) continue;
      Execution run;
      find_window(work, i, run);
      versions_.assign(work.own, *table, run.from, run.to, work.shapes[i]->set_columns);
    }
  }

  void read(Work& work) {
    RecordedTxn& txn = work.out.txn;
    work.reads.resize(txn.statements.size());
    work.changed.resize(txn.statements.size());
    work.knows_changed.resize(txn.statements.size());
    if (txn.statements.size() == 1 && work.out.id[0] == 'X') return;
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      const RecordedStatement& statement = txn.statements[i];
      if (is_harmless(statement.kind)) continue;
      if (!statement.error.empty() && tells_nothing(statement.error)) continue;
      if (std::ranges::any_of(txn.gaps, [i](const Gap& gap) { return gap.statement == i + 1; }))
        continue;
      const Table* table = nullptr;
      std::string why = obstacle(work, i, table);
      const bool is_query =
          work.shapes[i] != nullptr && work.shapes[i]->is_query && work.shapes[i]->reads_tables;
      if (why.empty() && (table != nullptr || is_query)) {
        Execution run{.statement = &statement,
                      .shape = work.shapes[i].get(),
                      .table = table == nullptr ? nullptr : versions_.of(*table),
                      .message = work.messages[i],
                      .own = work.own,
                      .own_place = work.out.commit,
                      .isolation = txn.isolation,
                      .is_committed = txn.status == TxnStatus::Committed &&
                                      work.undone[i] == txn.statements.size(),
                      .next = next_snapshot(work, i),
                      .is_later = [&](const Version& v) { return is_later(statement, v); }};
        find_window(work, i, run);
        std::optional<std::set<std::string>> lost;
        if (table != nullptr) lost = lost_rows(work, i, *table);
        if (lost && !lost->empty()) run.lost = &*lost;
        why = accesses_.read(run, work.reads[i], work.changed[i]);
        work.knows_changed[i] = why.empty();
        if (!why.empty()) work.reads[i].clear();
      }
      if (!why.empty()) txn.gaps.push_back({i + 1, why});
    }
  }

  // The statement that wrote at this place of the log.
  static std::size_t writing_statement(const Work& work, std::uint64_t lsn) {
    const auto& statements = work.out.txn.statements;
    std::size_t found = statements.size() - 1;
    bool is_exact = false;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (!is_write(statements[i].kind)) continue;
      if (work.messages[i] != nullptr && work.messages[i]->lsn <= lsn) {
        found = i;
        is_exact = true;
      } else if (work.messages[i] == nullptr || !is_exact) {
        found = i;
      }
    }
    return found;
  }

  void write() {
    auto writes = accesses_.writes();
    for (Work& work : works_) {
      work.out.events.resize(work.out.txn.statements.size());
      for (std::size_t i = 0; i < work.reads.size(); ++i)
        tell_reads(work, i, Access::Phase::Within, work.out.events[i]);
      if (work.own != 0 && !work.out.events.empty()) {
        for (Accesses::Written& written : writes[work.own]) {
          work.out.events[writing_statement(work, written.lsn)].push_back(
              {written.deletes   ? RunEvent::Kind::Delete
               : written.inserts ? RunEvent::Kind::Insert
                                 : RunEvent::Kind::Write,
               std::move(written.key),
               {},
               std::move(written.value)});
        }
      }
      split(work);
    }
  }

  void tell_reads(const Work& work, std::size_t i, Access::Phase phase,
                  std::vector<RunEvent>& events) {
    // The same read comes more than once, from the search and from a constraint, say.
    constexpr std::size_t kFew = 16;
    const bool is_short = work.reads[i].size() <= kFew;
    std::set<std::tuple<RunEvent::Kind, std::string_view, std::uint64_t>> told;
    for (auto next = work.reads[i].begin(); next != work.reads[i].end(); ++next) {
      const Access& access = *next;
      if (access.phase != phase) continue;
      const auto is_same = [&](const Access& a) {
        return a.phase == phase && a.kind == access.kind && a.writer == access.writer &&
               a.key == access.key;
      };
      const bool is_told = is_short ? std::any_of(work.reads[i].begin(), next, is_same)
                                    : !told.emplace(access.kind, access.key, access.writer).second;
      if (is_told) continue;
      const bool is_read = access.kind == RunEvent::Kind::Read;
      events.push_back({access.kind,
                        access.key,
                        is_read ? names_[access.writer] : std::string(),
                        {},
                        is_read && access.is_coarse});
    }
  }

  // Reads by another snapshot than the statement's become statements of their own.
  void split(Work& work) {
    const auto is_apart = [](const Access& access) {
      return access.phase != Access::Phase::Within;
    };
    if (std::ranges::none_of(work.reads, [&](const std::vector<Access>& reads) {
          return std::ranges::any_of(reads, is_apart);
        }))
      return;
    std::vector<RecordedStatement> statements;
    std::vector<std::vector<RunEvent>> events;
    std::vector<std::size_t> places;  // of the statements, from 1
    for (std::size_t i = 0; i < work.out.txn.statements.size(); ++i) {
      const auto add = [&](Access::Phase phase) {
        std::vector<RunEvent> told;
        if (i < work.reads.size()) tell_reads(work, i, phase, told);
        if (told.empty()) return;
        statements.push_back(work.out.txn.statements[i]);
        events.push_back(std::move(told));
      };
      add(Access::Phase::Before);
      statements.push_back(work.out.txn.statements[i]);
      events.push_back(std::move(work.out.events[i]));
      places.push_back(statements.size());
      add(Access::Phase::After);
    }
    // What COMMIT checks: deferred foreign keys.
    RecordedStatement commit{.kind = StatementKind::Commit, .sql = "COMMIT"};
    commit.sent = commit.start = commit.end = work.out.txn.end;
    std::vector<RunEvent> checked;
    for (std::size_t i = 0; i < work.reads.size(); ++i)
      tell_reads(work, i, Access::Phase::AtCommit, checked);
    if (!checked.empty()) {
      statements.push_back(std::move(commit));
      events.push_back(std::move(checked));
    }
    for (Gap& gap : work.out.txn.gaps) {
      if (gap.statement > 0 && gap.statement <= places.size())
        gap.statement = places[gap.statement - 1];
    }
    work.out.txn.statements = std::move(statements);
    work.out.events = std::move(events);
  }

  const Catalog& catalog_;
  Versions& versions_;
  const DecodedLog& log_;
  Gatekeeper& gates_;
  bool is_cut_;  // transactions were under way when the log ended
  Accesses accesses_;
  std::vector<Work> works_;
  std::set<std::uint64_t> claimed_;
  std::set<const Table*> altered_;
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint64_t, const Work*> by_id_;
};

}  // namespace

Result<ResolvedRun> resolve(std::vector<std::pair<std::string, RecordedTxn>>& txns, ServerLog& log,
                            Gatekeeper& gates, const std::string& home,
                            std::optional<std::size_t> logged) {
  auto decoded = log.read();
  if (!decoded) return decoded.error();
  if (!decoded->trouble.empty())
    return Error{.what = "a line of the server's log is not understood: " + decoded->trouble};
  auto catalog = read_catalog(log.connection());
  if (!catalog) return catalog.error();
  catalog->settle_in(home);
  Versions versions(*catalog, log, *decoded);
  Matches matches(log.connection());
  std::vector<std::pair<std::string, RecordedTxn>> rest;
  const std::size_t known = std::min(logged.value_or(txns.size()), txns.size());
  std::move(txns.begin() + static_cast<std::ptrdiff_t>(known), txns.end(),
            std::back_inserter(rest));
  txns.resize(known);
  ResolvedRun run =
      Resolver(std::move(txns), *catalog, versions, *decoded, matches, gates, logged.has_value())
          .run();
  for (std::size_t i = 0; i < rest.size(); ++i) {
    doubt(rest[i].second, "the recording ended before the server's log of it was read");
    run.txns.push_back({.session = std::move(rest[i].first),
                        .id = fmt::format("T{}", known + i + 1),
                        .txn = std::move(rest[i].second),
                        .events = {}});
    run.txns.back().events.resize(run.txns.back().txn.statements.size());
  }
  return run;
}

}  // namespace isoscope::record
