#include "audit/replay_view.h"

#include <algorithm>

#include "audit/moments.h"
#include "audit/server_levels.h"
#include "sql/run/memory_database.h"

namespace isoscope::audit {

namespace {

using sql::TableId;
using sql::Value;

constexpr std::size_t kMaxSteps = 10'000;

// The database as one call sees it.
class View final : public sql::Database {
 public:
  View(const Problem& problem, Versions& versions, ScenarioCallId call, std::int64_t first_fresh,
       const ById<ScenarioCallId, bool>& sees, const std::vector<std::size_t>* snapshots,
       bool is_per_statement, const sql::Changes& changes)
      : problem_(problem),
        versions_(versions),
        call_(call),
        sees_(sees),
        snapshots_(snapshots),
        changes_(changes),
        first_fresh_(first_fresh) {
    trace.is_per_statement = is_per_statement;
  }

  CallTrace trace;

  void begin(const sql::Statement& statement) override {
    log_entries();
    const std::size_t count = moments_.begin(statement);
    phase_ = Phase::Plain;
    searched_.clear();
    if (!statement.is_sql()) return;
    statement_ = &statement;
    if (statement.is<sql::Insert>()) phase_ = Phase::Insert;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t number = trace.moments.size();
      std::size_t snapshot = versions_.order.size();
      if (snapshots_ != nullptr && number < snapshots_->size())
        snapshot = std::min(snapshot, (*snapshots_)[number]);
      if (number > 0) snapshot = std::max(snapshot, trace.moments.back().snapshot);
      // A statement does not pause between its rows.
      if (number > 0 && statement.continues) snapshot = trace.moments.back().snapshot;
      trace.moments.push_back({statement.place, statement.text, snapshot});
    }
    moment_ = moments_.moment(statement);
    // What came before is a part of it, but for the trigger of a row that is deleted now.
    const auto* remove = statement.find<sql::Delete>();
    if (!(remove != nullptr && statement.continues && remove->once)) {
      trace.moments[moment_].place = statement.place;
      trace.moments[moment_].text = statement.text;
    }
    if (Moments::looks_twice(statement)) {
      // It does not pause in between either; where nothing is read before, it begins later.
      trace.moments.back().is_second_look = true;
      if (!statement.continues) trace.moments[moment_].snapshot = trace.moments.back().snapshot;
    }
  }
  bool begin_search(TableId table) override {
    if (!trace.is_per_statement) return false;
    phase_ = Phase::Search;
    searched_ = {table};
    found_.clear();
    passed_.clear();
    return true;
  }
  void end_search() override {
    // A row that was deleted since is another one by now, if there is one under its key. Whether or
    // not it still matches, the statement asks for it, and waits for whoever has it.
    std::erase_if(found_, [&](const auto& row) {
      const bool is_gone = was_deleted(row.first, row.second);
      trace.lock_events.push_back(
          {moment_, row.first, row.second, mode_asked_for(), false, !is_gone});
      return is_gone;
    });
    for (StatementRead& read : passed_) {
      if (!found_.contains({read.at.table, read.at.row}))
        trace.statement_reads.push_back(std::move(read));
    }
    for (const auto& [table, row] : found_) searched_.insert(table);
    phase_ = Phase::Change;
  }

  void begin_reference_check() override { checks_references_ = true; }
  void end_reference_check() override { checks_references_ = false; }

  std::vector<sql::RowKey> rows(TableId table) override {
    std::set<sql::RowKey> keys;
    for (const auto& [of, row] : versions_.rows) {
      if (of == table) keys.insert(row);
    }
    for (const auto& [location, value] : trace.writes) {
      if (location.table == table && !location.attribute.is_entry()) keys.insert(location.row);
    }
    return {keys.begin(), keys.end()};
  }
  bool is_present(TableId table, const sql::RowKey& key) override {
    // Once the search is over, nothing else is found.
    if (phase_ == Phase::Change && !checks_references_ && searched_.contains(table) &&
        !found_.contains({table, key}))
      return false;
    const Value value = get({table, key, kPresence}, Value(false));
    return value == Value(true);
  }
  Value read(TableId table, const sql::RowKey& key, sql::ColumnId column) override {
    return get({table, key, Attribute(column)}, Value());
  }
  void set_present(TableId table, const sql::RowKey& key, bool present) override {
    const LocationKey location{table, key, kPresence};
    remember_entries(table, key);
    trace.writes[location] = Value(present);
    note_write(location, present ? RowLock::Insert : RowLock::Update);
  }
  void write(TableId table, const sql::RowKey& key, sql::ColumnId column, Value value) override {
    const LocationKey location{table, key, Attribute(column)};
    remember_entries(table, key);
    const RowLock mode = changes_key(location, value) ? RowLock::Update : RowLock::NoKeyUpdate;
    trace.writes[location] = std::move(value);
    note_write(location, mode);
  }
  void matched(TableId table, const sql::RowKey& key) override {
    if (phase_ == Phase::Search) {
      found_.insert({table, key});
      return;
    }
    trace.matched_at.insert({moment_, table, key});
  }
  void lock(TableId table, const sql::RowKey& key, sql::Lock mode) override {
    sql::Lock& held = trace.locks[{table, key}];
    held = std::max(held, mode);
    trace.lock_events.push_back({moment_, table, key, as_row_lock(mode), false});
  }
  bool take_advisory(const std::vector<Value>& numbers, const sql::AdvisoryLock& lock) override {
    trace.lock_events.push_back({.moment = moment_,
                                 .table = advisory_table(problem_.app, numbers.size()),
                                 .row = numbers,
                                 .mode = lock.is_shared ? RowLock::Share : RowLock::Update,
                                 .may_wait = !lock.is_tried,
                                 .is_advisory = true});
    return true;
  }
  std::optional<UniqueAnswer> find_unique(TableId table, sql::UniqueId constraint,
                                          std::span<const Value> values,
                                          const std::optional<sql::RowKey>& except) override {
    const std::vector<sql::ColumnId>& columns = problem_.app.table(table).unique[constraint];
    // The entry is what the transaction looks at; the rows say what it finds.
    const LocationKey entry{table, {values.begin(), values.end()}, Attribute::entry(constraint)};
    get(entry, Value(false));
    const std::size_t when = looks_once(entry) ? trace.moments[moments_.check_moment()].snapshot
                                               : versions_.order.size();
    UniqueAnswer answer;
    for (const std::size_t limit : {this->limit(), std::min(this->limit(), when)}) {
      for (const sql::RowKey& key : rows(table)) {
        if (answer.row || key == except) continue;
        if (peek({table, key, kPresence}, Value(), limit).value != Value(true)) continue;
        if (entry_of(table, key, columns, limit) == entry.row) answer.row = key;
      }
    }
    return answer;
  }
  // What the call did to entries, from what it did to rows.
  void write_entries() {
    log_entries();
    phase_ = Phase::Change;
    std::set<std::pair<TableId, sql::RowKey>> changed;
    for (const auto& [location, value] : trace.writes)
      changed.insert({location.table, location.row});
    std::map<LocationKey, Value> freed;
    std::map<LocationKey, Value> taken;
    for (const bool is_after : {false, true}) {
      use_own_ = is_after;
      for (const auto& [table, key] : changed) {
        const auto& constraints = problem_.app.table(table).unique;
        if (constraints.empty() || peek({table, key, kPresence}).value != Value(true)) continue;
        for (const sql::UniqueId u : constraints.ids()) {
          const sql::RowKey entry = entry_of(table, key, constraints[u]);
          if (std::ranges::any_of(entry, [](const Value& v) { return v.is_null(); })) continue;
          (is_after ? taken : freed)[{table, entry, Attribute::entry(u)}] = Value(is_after);
        }
      }
    }
    for (const auto& [location, value] : freed) {
      if (!taken.contains(location)) trace.writes[location] = value;
    }
    for (const auto& [location, value] : taken) {
      if (!freed.contains(location)) trace.writes[location] = value;
    }
    for (const auto* entries : {&freed, &taken}) {
      for (const auto& [location, value] : *entries)
        trace.write_places.emplace(location, statement_ == nullptr ? Place{} : statement_->place);
    }
  }
  Value fresh(TableId table, sql::ColumnId column) override {
    // The same in every order of the calls.
    return sql::fresh_value(problem_.app.table(table).columns[column], draw({}));
  }
  std::int64_t draw(sql::SequenceId) override { return first_fresh_ + next_fresh_++; }

 private:
  bool changes(const LocationKey& location) const {
    if (location.attribute == kPresence) return !changes_.has_fixed_rows(location.table);
    if (location.attribute.is_entry()) return true;
    return !changes_.is_static(location.table, location.attribute.column());
  }
  // By a call that is not in the snapshot.
  bool was_deleted(TableId table, const sql::RowKey& row) const {
    for (std::size_t i = snapshot(); i < versions_.order.size(); ++i) {
      const auto& writes = versions_.traces[versions_.order[i]].writes;
      const auto written = writes.find({table, row, kPresence});
      if (written != writes.end() && written->second == Value(false)) return true;
    }
    return false;
  }
  RowLock mode_asked_for() const {
    if (statement_->is<sql::Delete>()) return RowLock::Update;
    if (statement_->is<sql::Update>()) return RowLock::NoKeyUpdate;
    return as_row_lock(statement_->lock());
  }
  static RowLock as_row_lock(sql::Lock mode) {
    switch (mode) {
      case sql::Lock::None:
      case sql::Lock::KeyShare: return RowLock::KeyShare;
      case sql::Lock::Share: return RowLock::Share;
      case sql::Lock::NoKeyUpdate: return RowLock::NoKeyUpdate;
      case sql::Lock::Update: break;
    }
    return RowLock::Update;
  }
  // A column that others may refer to gets another value.
  bool changes_key(const LocationKey& location, const Value& value) const {
    const bool is_key =
        std::ranges::any_of(problem_.app.table(location.table).unique, [&](const auto& unique) {
          return std::ranges::find(unique, location.attribute.column()) != unique.end();
        });
    return is_key && peek(location).value != value;
  }
  // Where a statement is: it looks, it looks for rows that it will change or lock, it does so, or
  // it inserts.
  enum class Phase : std::uint8_t { Plain, Search, Change, Insert };

  std::size_t snapshot() const {
    return trace.moments.contains(moment_) ? trace.moments[moment_].snapshot
                                           : versions_.order.size();
  }
  // How many of the calls that have run are in the view of the statement.
  std::size_t limit() const {
    const bool is_current = phase_ == Phase::Change || phase_ == Phase::Insert;
    return is_current ? versions_.order.size() : snapshot();
  }
  void note_write(const LocationKey& location, RowLock mode) {
    trace.write_places[location] = statement_->place;
    trace.lock_events.push_back({moment_, location.table, location.row, mode, true});
    trace.write_events.push_back({moment_, location});
  }
  struct Seen {
    Value value;
    std::optional<ScenarioCallId> writer;
    bool is_own = false;
  };
  // What is there, without looking at it.
  Seen peek(const LocationKey& location, Value absent = Value()) const {
    return peek(location, std::move(absent), limit());
  }
  Seen peek(const LocationKey& location, Value absent, std::size_t limit) const {
    const auto own = trace.writes.find(location);
    if (use_own_ && own != trace.writes.end()) return {own->second, std::nullopt, true};
    Seen seen{std::move(absent), std::nullopt, false};
    const auto initial = versions_.initial.find(location);
    if (initial != versions_.initial.end()) seen.value = initial->second;
    for (std::size_t i = 0; i < versions_.order.size(); ++i) {
      const ScenarioCallId other = versions_.order[i];
      if (trace.is_per_statement ? i >= limit : !sees_[other]) continue;
      if (!versions_.traces[other].result.committed) continue;
      const auto written = versions_.traces[other].writes.find(location);
      if (written == versions_.traces[other].writes.end()) continue;
      seen.value = written->second;
      seen.writer = other;
    }
    return seen;
  }
  sql::RowKey entry_of(TableId table, const sql::RowKey& key,
                       const std::vector<sql::ColumnId>& columns) const {
    return entry_of(table, key, columns, limit());
  }
  sql::RowKey entry_of(TableId table, const sql::RowKey& key,
                       const std::vector<sql::ColumnId>& columns, std::size_t limit) const {
    const sql::Table& declared = problem_.app.table(table);
    sql::RowKey entry;
    for (const sql::ColumnId column : columns) {
      const auto place = std::ranges::find(declared.primary_key, column);
      entry.push_back(place != declared.primary_key.end()
                          ? key[static_cast<std::size_t>(place - declared.primary_key.begin())]
                          : peek({table, key, Attribute(column)}, Value(), limit).value);
    }
    return entry;
  }
  // Those of a row that is there, as it is now; NULL makes none.
  using Entries = ById<sql::UniqueId, std::optional<sql::RowKey>>;
  Entries entries_now(TableId table, const sql::RowKey& key) const {
    const auto& constraints = problem_.app.table(table).unique;
    Entries entries(constraints.size());
    const std::size_t now = versions_.order.size();
    if (peek({table, key, kPresence}, Value(), now).value != Value(true)) return entries;
    for (const sql::UniqueId u : constraints.ids()) {
      sql::RowKey entry = entry_of(table, key, constraints[u], now);
      if (std::ranges::none_of(entry, [](const Value& v) { return v.is_null(); }))
        entries[u] = std::move(entry);
    }
    return entries;
  }
  // Before the statement changes the row for the first time.
  void remember_entries(TableId table, const sql::RowKey& key) {
    if (problem_.app.table(table).unique.empty() || entries_before_.contains({table, key})) return;
    entries_before_.emplace(std::pair(table, key), entries_now(table, key));
  }
  // What the statement that ends has done to entries.
  void log_entries() {
    for (const auto& [row, before] : entries_before_) {
      const Entries after = entries_now(row.first, row.second);
      for (const sql::UniqueId u : before.ids()) {
        if (before[u] == after[u]) continue;
        for (const auto* entry : {&before[u], &after[u]}) {
          if (*entry)
            trace.write_events.push_back({moment_, {row.first, **entry, Attribute::entry(u)}});
        }
      }
    }
    entries_before_.clear();
  }
  Value get(const LocationKey& location, Value absent) {
    versions_.touched.insert({location.table, location.row});
    std::size_t limit = this->limit();
    Seen seen = peek(location, absent, limit);
    if (looks_for_key(location) && !trace.is_per_statement) {
      // On a server the key is still there when the statement looks for it.
      if (seen.value == Value(true) && !seen.is_own)
        trace.keys_found.push_back({moment_, location});
    } else if (looks_for_key(location)) {
      // DO NOTHING looks at a moment of its own; what it finds free is free to the end.
      const std::size_t then = trace.moments[moments_.check_moment()].snapshot;
      Seen found = peek(location, std::move(absent), then);
      if (found.value == Value(true)) {
        // Whoever frees the key would have to begin and end in the middle of the statement.
        if (statement_->continues && seen.value != Value(true))
          trace.impossible = "a key that is taken is freed while a statement goes from row to row";
        if (!found.is_own) trace.keys_found.push_back({moment_, location});
        seen = std::move(found);
        limit = then;
      } else if (seen.value == Value(true)) {
        trace.impossible = "a key that was free is taken by another call";
      }
    }
    if (!seen.is_own && changes(location)) note_read(location, seen, limit);
    return std::move(seen.value);
  }
  // DO NOTHING does.
  bool looks_for_key(const LocationKey& location) const {
    return phase_ == Phase::Insert && location.table == statement_->as<sql::Insert>().table &&
           Moments::looks_twice(*statement_);
  }
  bool looks_once(const LocationKey& location) const {
    return trace.is_per_statement && looks_for_key(location);
  }
  void note_read(const LocationKey& location, const Seen& seen, std::size_t limit) {
    trace.reads.emplace(location, seen.value);
    trace.read_at.insert({moment_, location});
    trace.read_from.emplace(location, seen.writer);
    const Place place = statement_ == nullptr ? Place{} : statement_->place;
    trace.read_places.emplace(location, place);
    if (!trace.is_per_statement) return;
    auto& reads = phase_ == Phase::Search ? passed_ : trace.statement_reads;
    reads.push_back({moment_, location, seen.value, seen.writer, limit, place});
  }

  const Problem& problem_;
  Versions& versions_;
  ScenarioCallId call_;
  const ById<ScenarioCallId, bool>& sees_;
  const std::vector<std::size_t>* snapshots_;
  const sql::Changes& changes_;
  Moments moments_;
  MomentId moment_ = {};
  const sql::Statement* statement_ = nullptr;
  Phase phase_ = Phase::Plain;
  std::set<TableId> searched_;  // tables of a search
  std::set<std::pair<TableId, sql::RowKey>> found_;
  std::vector<StatementRead> passed_;                                  // reads of a search
  std::map<std::pair<TableId, sql::RowKey>, Entries> entries_before_;  // of rows that it changes
  std::int64_t first_fresh_;
  std::int64_t next_fresh_ = 0;
  bool use_own_ = true;
  bool checks_references_ = false;
};

}  // namespace

sql::RowKey key_of(const sql::Table& table, const sql::InitialRow& row) {
  sql::RowKey key;
  for (const sql::ColumnId column : table.primary_key) key.push_back(row.values[column]);
  return key;
}

Versions start_of(const Problem& problem, const Scenario& scenario) {
  Versions versions;
  versions.traces.resize(scenario.calls.size());
  for (const sql::InitialRow& row : scenario.rows) {
    const sql::Table& table = problem.app.table(row.table);
    const sql::RowKey key = key_of(table, row);
    versions.rows.insert({row.table, key});
    versions.initial[{row.table, key, kPresence}] = Value(true);
    for (const sql::ColumnId c : table.columns.ids()) {
      if (!table.is_key_column(c)) versions.initial[{row.table, key, Attribute(c)}] = row.values[c];
    }
    for (const sql::UniqueId u : table.unique.ids()) {
      sql::RowKey entry;
      for (const sql::ColumnId column : table.unique[u]) entry.push_back(row.values[column]);
      versions.initial[{row.table, entry, Attribute::entry(u)}] = Value(true);
    }
  }
  return versions;
}

bool run_call(const Problem& problem, const Scenario& scenario, ScenarioCallId call,
              const ById<ScenarioCallId, bool>& sees, const std::vector<std::size_t>* snapshots,
              const sql::Changes& changes, Versions& versions, Budget& budget) {
  const ScenarioCall& what = scenario.calls[call];
  const bool is_per_statement = &problem.levels.of(what.function) == &pg_read_committed();
  const std::int64_t first_fresh =
      what.first_fresh.value_or(kFreshPerCall * (std::int64_t{call.index} + 1));
  View view(problem, versions, call, first_fresh, sees, snapshots, is_per_statement, changes);
  auto result = sql::run_call(problem.app, problem.app.function(what.function), what.arguments,
                              view, kMaxSteps, &budget);
  if (!result) {
    versions.why_stopped = result.error().what;
    return false;
  }
  view.trace.result = *result;
  if (!result->committed) view.trace.writes.clear();
  view.write_entries();
  for (const auto& [location, value] : view.trace.writes) {
    if (!location.attribute.is_entry()) versions.rows.insert({location.table, location.row});
  }
  versions.traces[call] = std::move(view.trace);
  versions.order.push_back(call);
  return true;
}

}  // namespace isoscope::audit
