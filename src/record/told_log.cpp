#include "record/told_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

#include "record/accesses_parts.h"
#include "record/commit_order.h"
#include "record/gatekeeper.h"
#include "record/resolve.h"
#include "record/rollbacks.h"
#include "support/spelling.h"

namespace isoscope::record {
namespace {

constexpr const char* kUntold = "a table with writes that the statements did not report";
constexpr const char* kUncounted =
    "a table in which the server counted other writes than the statements reported (triggers, "
    "cascades, functions, other connections)";
constexpr const char* kAnew = "a table that was written anew or dropped";
constexpr const char* kOutcome = "a table written by a transaction whose outcome is not known";
constexpr const char* kNoOrder = "a table whose unique keys were written in an order not known";
constexpr const char* kContradiction = "the commits of the run cannot be put in order";
constexpr const char* kRelated =
    "a table with a foreign key to or from one whose writes are not all known";
constexpr const char* kNoSnapshot = "its snapshot is not known: others committed while it ran";
constexpr const char* kNoPlace = "it is not known which commits of others it came after";

// Are values printed as ours, with these settings of the client?
bool prints_as_ours(std::string_view settings, const std::string& money) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = settings.find(';');
    parts.push_back(settings.substr(0, end));
    if (end != std::string_view::npos) settings.remove_prefix(end + 1);
  }
  static const std::set<std::string_view> kUtc = {"UTC",       "Etc/UTC",      "GMT",  "Etc/GMT",
                                                  "Etc/UCT",   "UCT",          "Zulu", "Etc/Zulu",
                                                  "Universal", "Etc/Universal"};
  if (parts.size() != 6) return false;
  int digits = 0;
  std::from_chars(parts[3].data(), parts[3].data() + parts[3].size(), digits);
  return parts[0].starts_with("ISO") && parts[1] == "postgres" && kUtc.contains(parts[2]) &&
         digits >= 1 && parts[4] == "hex" && parts[5] == money;
}

class ToldLog {
 public:
  ToldLog(std::vector<std::pair<std::string, RecordedTxn>>& txns, const ToldContext& context)
      : txns_(txns), context_(context), works_(txns.size()) {}

  DecodedLog run() {
    for (std::size_t t = 0; t < txns_.size(); ++t) read(t);
    for (std::size_t t = 0; t < txns_.size(); ++t) find_changes(t);
    compare_counters();
    order();
    sort_writers();
    for (std::size_t t = 0; t < txns_.size(); ++t) tell_snapshots(t);
    return std::move(log_);
  }

 private:
  struct Work {
    std::vector<std::vector<Told>> told;  // by statement
    std::uint64_t xid = 0;
    std::vector<std::vector<LogChange>> changes;  // by statement; of those that took effect
    std::vector<std::set<const Table*>> takes;    // by statement: tables of which it takes current
                                                  // rows that it does not tell
    std::set<const Table*> touches;               // that it writes, or takes rows of
    std::set<const Table*> writes;
    Microseconds end = 0;  // it has committed by then, if it has
    bool wrote() const {
      return std::ranges::any_of(changes, [](const auto& list) { return !list.empty(); });
    }
  };

  RecordedTxn& txn(std::size_t t) { return txns_[t].second; }
  static bool may_have_committed(const RecordedTxn& txn) {
    return txn.status != TxnStatus::Aborted;
  }
  void trouble(const Table* table, const char* why) {
    if (table != nullptr) log_.troubles.emplace(table->full_name(), why);
  }

  void read(std::size_t t) {
    Work& work = works_[t];
    RecordedTxn& txn = this->txn(t);
    const std::size_t count = txn.statements.size();
    work.told.resize(count);
    work.changes.resize(count);
    work.takes.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::string& text : txn.statements[i].told) {
        if (auto told = parse_told(text)) work.told[i].push_back(std::move(*told));
      }
      txn.statements[i].told = {};
      for (const Told& told : work.told[i]) {
        if (told.xid != 0) work.xid = told.xid;
      }
    }
    work.end = txn.end;
    if (txn.status == TxnStatus::Unknown && work.xid != 0) {
      // The server may have gone on without a client to answer, or committed in two phases.
      work.end = std::numeric_limits<Microseconds>::max();
      txn.status = context_.status_of(work.xid);
    }
  }

  // The table that a statement names.
  const Table* named(const RecordedStatement& statement) const {
    if (statement.shape == nullptr) return nullptr;
    const Shape& shape = *statement.shape;
    const bool knows = !shape.appending.table.empty();
    return context_.catalog.find(knows ? shape.appending.schema : shape.schema,
                                 knows ? shape.appending.table : shape.table);
  }

  // The table that a row was written to, by the oid that it reported.
  const Table* written(const Told& told) const {
    const auto state = context_.before.find(told.table);
    if (state == context_.before.end()) return nullptr;
    const auto root = context_.catalog.partitions.find(state->second.name);
    const auto table = context_.catalog.tables.find(
        root == context_.catalog.partitions.end() ? state->second.name : root->second);
    return table == context_.catalog.tables.end() ? nullptr : &table->second;
  }

  void find_changes(std::size_t t) {
    RecordedTxn& txn = this->txn(t);
    Work& work = works_[t];
    bool is_certain = true;
    const std::vector<std::size_t> undone = undone_at(txn, &is_certain);
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      const RecordedStatement& statement = txn.statements[i];
      find_takes(work, i, statement);
      if (!writes_rows(statement.kind)) continue;
      if (!statement.error.empty()) {
        count_failed(statement);
        continue;
      }
      const Table* table = named(statement);
      const std::size_t rows = told_rows(statement.tag);
      for (const Told& told : work.told[i]) ++least_[told.table];
      const bool counts = may_have_committed(txn) && (undone[i] == undone.size() || !is_certain);
      if (work.told[i].size() != rows) {
        if (counts || rows == kNone) trouble(table, kUntold);
        count_untold(table, rows);
        continue;
      }
      if (!counts) continue;
      if (!is_certain && rows > 0) trouble(table, kUntold);
      if (txn.status != TxnStatus::Committed && rows > 0) trouble(table, kOutcome);
      for (const Told& told : work.told[i]) add_change(work, i, statement, told);
    }
  }

  // Rows that a statement wrote and did not tell, which the server counted. An INSERT may count
  // less: of ON CONFLICT DO NOTHING only the tag knows.
  void count_untold(const Table* table, std::size_t rows) {
    if (table == nullptr || table->is_partitioned || rows == kNone) return;
    for (const auto& [oid, state] : context_.before) {
      if (state.name == table->full_name()) least_[oid] += rows;
    }
  }

  // A statement that failed has counted what it wrote until then. Of one row, the error tells: a
  // unique key is checked after the row is inserted, and so is a foreign key.
  void count_failed(const RecordedStatement& statement) {
    if (statement.shape == nullptr) return;
    const Shape& shape = *statement.shape;
    const bool inserts_one = shape.kind == StatementKind::Insert && !shape.values.empty() &&
                             shape.conflict == Shape::Conflict::Fails;
    if (!inserts_one || (statement.error != "23505" && statement.error != "23503")) return;
    const Table* table = named(statement);
    // A trigger may raise the same error before the row is counted.
    if (table != nullptr && !table->no_writes.empty()) return trouble(table, kUntold);
    count_untold(table, 1);
  }

  void add_change(Work& work, std::size_t i, const RecordedStatement& statement, const Told& told) {
    const Table* table = written(told);
    if (table == nullptr) return;  // of no table that was there at the start
    const auto cells = told.row ? record_fields(*told.row) : std::nullopt;
    const Appending& appending = statement.shape->appending;
    const bool sets_key = std::ranges::any_of(appending.set_columns, [&](const std::string& name) {
      return table->key_names.contains(name);
    });
    if (!cells || cells->size() != table->columns.size() || sets_key || work.xid == 0 ||
        (told.xid != 0 && told.xid != work.xid))
      return trouble(table, kUntold);
    const TableState& state = context_.before.at(told.table);
    if (!state.looks_the_same && !prints_as_ours(told.settings, state.money))
      return trouble(table, "a table of values that the client's settings print otherwise");
    LogChange change{.kind = LogChange::Kind::Update, .lsn = told.lsn, .table = table->full_name()};
    if (statement.kind == StatementKind::Delete) change.kind = LogChange::Kind::Delete;
    if (statement.kind == StatementKind::Insert)
      change.kind = appending.may_update ? LogChange::Kind::Put : LogChange::Kind::Insert;
    for (std::size_t c = 0; c < cells->size(); ++c) {
      Cell value = (*cells)[c];
      // As the log prints booleans.
      if (value && table->booleans.contains(c)) value = value == "t" ? "true" : "false";
      change.values.emplace_back(table->columns[c], std::move(value));
    }
    work.writes.insert(table);
    work.touches.insert(table);
    work.changes[i].push_back(std::move(change));
  }

  // Tables of which the statement takes current rows that it does not tell: it locks them, or
  // waits for them and leaves them, or looks for a key.
  void find_takes(Work& work, std::size_t i, const RecordedStatement& statement) {
    if (statement.shape == nullptr) return;
    const Shape& shape = *statement.shape;
    const Table* table = named(statement);
    if (table == nullptr) return;
    std::set<const Table*>& takes = work.takes[i];
    const bool writes = writes_rows(shape.kind);
    const bool is_lookup =
        shape.equated_columns == table->key_names && told_rows(statement.tag) == 1;
    if (shape.kind == StatementKind::Select ? shape.locks_rows
        : shape.kind == StatementKind::Insert
            ? shape.conflict != Shape::Conflict::Fails || !statement.error.empty()
            : !is_lookup)
      takes.insert(table);
    const auto add = [&](const std::string& name) {
      const auto other = context_.catalog.tables.find(name);
      if (other != context_.catalog.tables.end()) takes.insert(&other->second);
    };
    for (const ForeignKey& key : table->foreign_keys) {
      if (writes) add(key.parent);
    }
    for (const ChildTable& child : table->children) {
      if (writes && shape.kind != StatementKind::Insert) add(child.name);
    }
    work.touches.insert(takes.begin(), takes.end());
  }

  void compare_counters() {
    for (const auto& [oid, state] : context_.before) {
      const auto root = context_.catalog.partitions.find(state.name);
      const std::string& name =
          root == context_.catalog.partitions.end() ? state.name : root->second;
      const auto after = context_.after.find(oid);
      if (after == context_.after.end() || after->second.file != state.file ||
          after->second.name != state.name) {
        log_.troubles.emplace(name, kAnew);
      } else if (!context_.is_counted || after->second.writes != state.writes + least_[oid]) {
        log_.troubles.emplace(name, kUncounted);
      }
    }
  }

  // All snapshots that were told. From REPEATABLE READ on, they are all of the first statement.
  std::vector<SnapshotTime> snapshots() {
    std::vector<SnapshotTime> all;
    for (std::size_t t = 0; t < txns_.size(); ++t) {
      const auto& statements = txn(t).statements;
      for (std::size_t i = 0; i < statements.size(); ++i) {
        if (works_[t].told[i].empty()) continue;
        const Told& told = works_[t].told[i].front();
        const bool is_own = told.isolation.is_read_committed();
        all.push_back(
            {told.snapshot, is_own ? statements[i].bound : first_bound(txn(t)), statements[i].end});
        if (!is_own) break;
      }
    }
    return all;
  }
  static Microseconds first_bound(const RecordedTxn& txn) {
    if (imports_snapshot(txn)) return 0;
    Microseconds first = txn.start;
    for (const RecordedStatement& statement : txn.statements)
      first = std::min(first, statement.bound);
    return first;
  }
  // SET TRANSACTION SNAPSHOT: one that another transaction has taken before.
  static bool imports_snapshot(const RecordedTxn& txn) {
    return std::ranges::any_of(txn.statements, [](const RecordedStatement& statement) {
      return is_harmless(statement.kind) &&
             lower_case(statement.sql).find("snapshot") != std::string::npos;
    });
  }

  void order() {
    std::vector<Commit> commits;
    for (std::size_t t = 0; t < txns_.size(); ++t) {
      if (!works_[t].wrote() || txn(t).status != TxnStatus::Committed) continue;
      writers_.push_back(t);
      Commit commit{.xid = works_[t].xid, .sent = txn(t).end_sent, .end = works_[t].end};
      for (const auto& list : works_[t].changes) {
        for (const LogChange& change : list) add_row(change, commit);
      }
      commits.push_back(std::move(commit));
    }
    const CommitOrder found = commit_order(commits, snapshots());
    if (found.is_contradictory) {
      for (const auto& [name, table] : context_.catalog.tables) trouble(&table, kContradiction);
    }
    for (const auto& [a, b] : found.unordered) {
      doubt_pair(writers_[a], writers_[b]);
      doubt_pair(writers_[b], writers_[a]);
    }
    spread_trouble();
    for (const std::size_t c : found.order) {
      LogTxn logged{.xid = commits[c].xid};
      const std::size_t t = writers_[c];
      std::uint64_t place = 0;  // within the transaction: what comes after what
      for (auto& list : works_[t].changes) {
        ++place;
        for (LogChange& change : list) {
          change.lsn = ++place;
          // A chain of versions of which some are missing would say wrong things of the others.
          if (!log_.troubles.contains(change.table)) logged.changes.push_back(std::move(change));
        }
      }
      log_.txns.push_back(std::move(logged));
    }
  }

  // A foreign key reads rows of the other table, which are not known either.
  void spread_trouble() {
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (const auto& [name, table] : context_.catalog.tables) {
        const bool is_troubled = log_.troubles.contains(name);
        for (const ForeignKey& key : table.foreign_keys) {
          if (is_troubled == log_.troubles.contains(key.parent)) continue;
          log_.troubles.emplace(is_troubled ? key.parent : name, kRelated);
          has_grown = true;
          break;
        }
      }
    }
  }

  void add_row(const LogChange& change, Commit& commit) const {
    const Table& table = context_.catalog.tables.at(change.table);
    std::vector<Cell> values;
    for (const auto& [name, value] : change.values) values.push_back(value);
    const auto [row, is_new] = commit.rows.try_emplace(change.table + " " + key_text(table, values),
                                                       change.lsn, change.lsn);
    row->second.first = std::min(row->second.first, change.lsn);
    row->second.second = std::max(row->second.second, change.lsn);
  }

  // The order of the two is not known. Rows that both wrote would tell it; what else `a` took of
  // tables that `b` wrote or took rows of rests on it.
  void doubt_pair(std::size_t a, std::size_t b) {
    for (const Table* table : works_[a].writes) {
      if (!table->unique_keys.empty() && works_[b].writes.contains(table)) trouble(table, kNoOrder);
    }
    for (std::size_t i = 0; i < works_[a].takes.size(); ++i) {
      if (std::ranges::any_of(works_[a].takes[i], [&](const Table* table) {
            return works_[b].touches.contains(table);
          }))
        add_gap(txn(a), i, kNoPlace);
    }
  }

  static void add_gap(RecordedTxn& txn, std::size_t i, const char* why) {
    if (std::ranges::none_of(txn.gaps, [i](const Gap& gap) { return gap.statement == i + 1; }))
      txn.gaps.push_back({i + 1, why});
  }

  // Writers by the time by which they had committed, so that those which matter to a statement are
  // few: of each suffix the smallest id and the first request, of each prefix the greatest id.
  void sort_writers() {
    std::ranges::stable_sort(writers_, {}, [&](std::size_t t) { return works_[t].end; });
    const std::size_t count = writers_.size();
    greatest_before_.assign(count + 1, 0);
    least_from_.assign(count + 1, std::numeric_limits<std::uint64_t>::max());
    sent_from_.assign(count + 1, std::numeric_limits<Microseconds>::max());
    for (std::size_t w = 0; w < count; ++w)
      greatest_before_[w + 1] = std::max(greatest_before_[w], works_[writers_[w]].xid);
    for (std::size_t w = count; w-- > 0;) {
      least_from_[w] = std::min(least_from_[w + 1], works_[writers_[w]].xid);
      sent_from_[w] = std::min(sent_from_[w + 1], txn(writers_[w]).end_sent);
    }
  }

  // The snapshot of a statement that told none, by the times of commits; none if one was under way.
  std::optional<Snapshot> by_time(std::size_t reader, Microseconds from, Microseconds to) {
    const auto first =
        std::ranges::lower_bound(writers_, from, {}, [&](std::size_t t) { return works_[t].end; });
    auto w = static_cast<std::size_t>(first - writers_.begin());
    Snapshot snapshot{.xmin = 0, .xmax = greatest_before_[w] + 1};
    for (; w < writers_.size() && (sent_from_[w] <= to || least_from_[w] < snapshot.xmax); ++w) {
      const std::size_t t = writers_[w];
      if (t != reader && txn(t).end_sent <= to) return std::nullopt;
      if (works_[t].xid < snapshot.xmax) snapshot.running.push_back(works_[t].xid);
    }
    std::ranges::sort(snapshot.running);
    snapshot.xmin = snapshot.running.empty() ? snapshot.xmax : snapshot.running.front();
    return snapshot;
  }

  void tell_snapshots(std::size_t t) {
    RecordedTxn& txn = this->txn(t);
    const Work& work = works_[t];
    Isolation isolation = txn.isolation;
    std::optional<Snapshot> common;
    for (const auto& told : work.told) {
      if (told.empty()) continue;
      isolation = told.front().isolation;
      if (!common) common = told.front().snapshot;
    }
    const bool is_one = !isolation.is_read_committed();
    std::uint64_t place = 0;
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      RecordedStatement& statement = txn.statements[i];
      const std::uint64_t here = ++place;
      place += work.changes[i].size();
      if (!has_shape(statement.kind)) continue;
      std::optional<Snapshot> snapshot;
      if (!work.told[i].empty()) {
        snapshot = work.told[i].front().snapshot;
      } else if (is_one && common) {
        snapshot = common;
      } else {
        snapshot = by_time(t, is_one ? first_bound(txn) : statement.bound, statement.end);
      }
      if (!snapshot) {
        add_gap(txn, i, kNoSnapshot);
        continue;
      }
      statement.gate = log_.messages.size() + 1;
      log_.messages.push_back({.lsn = here,
                               .gate = statement.gate,
                               .xid = work.xid,
                               .snapshot = std::move(*snapshot),
                               .isolation = isolation});
    }
  }

  std::vector<std::pair<std::string, RecordedTxn>>& txns_;
  const ToldContext& context_;
  std::vector<Work> works_;
  std::map<std::string, std::uint64_t> least_;  // by oid: rows that were written at least
  std::vector<std::size_t> writers_;            // transactions that wrote and committed
  std::vector<std::uint64_t> greatest_before_;  // sort_writers()
  std::vector<std::uint64_t> least_from_;
  std::vector<Microseconds> sent_from_;
  DecodedLog log_;
};

}  // namespace

DecodedLog told_log(std::vector<std::pair<std::string, RecordedTxn>>& txns,
                    const ToldContext& context) {
  return ToldLog(txns, context).run();
}

}  // namespace isoscope::record
