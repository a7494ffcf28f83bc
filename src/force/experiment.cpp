#include "force/experiment.h"

#include <fmt/format.h>

#include <algorithm>

#include "force/last_will.h"
#include "sql/sqlstates.h"

namespace isoscope::force {
namespace {

bool has_rolled_back(const Answer& last) { return last.has_failed() || last.tag == "ROLLBACK"; }

constexpr std::size_t kMostRows = 10'000;  // of a table that is compared

// Rows without an order.
Table unordered(Table table) {
  std::ranges::sort(table.rows);
  return table;
}

std::vector<Unit> committed_units(const Run& run) {
  std::vector<Unit> units;
  for (const Unit& unit : run.units)
    if (unit.is_committed) units.push_back(unit);
  std::ranges::sort(units);
  return units;
}

// All orders of the units that keep each session's own, up to `most`; empty if there are more.
std::vector<std::vector<Unit>> serial_orders(const std::vector<Unit>& units, std::size_t most) {
  std::vector<std::vector<Unit>> orders;
  std::vector<Unit> current;
  std::vector<bool> is_used(units.size());
  bool is_too_many = false;
  const auto recurse = [&](const auto& self) -> void {
    if (current.size() == units.size()) {
      if (orders.size() == most) is_too_many = true;
      if (!is_too_many) orders.push_back(current);
      return;
    }
    ById<ActorId, bool> has_earlier;  // an earlier unit is still to come
    for (std::size_t i = 0; i < units.size() && !is_too_many; ++i) {
      auto is_behind = has_earlier.grown(units[i].session);
      if (is_used[i] || is_behind) continue;
      is_behind = true;
      is_used[i] = true;
      current.push_back(units[i]);
      self(self);
      current.pop_back();
      is_used[i] = false;
    }
  };
  recurse(recurse);
  if (is_too_many) orders.clear();
  return orders;
}

// The transactions of each session, from what it answered.
void find_units(Run& run) {
  ById<ActorId, std::vector<std::size_t>> ended(run.answers.size());  // when: place in moments
  for (std::size_t i = 0; i < run.played.moments.size(); ++i) {
    const Moment& moment = run.played.moments[i];
    if (moment.kind == Moment::Kind::Answered) ended[moment.actor].push_back(i);
  }
  std::vector<std::pair<std::size_t, Unit>> units;
  for (const ActorId s : run.answers.ids()) {
    const Answers& answers = run.answers[s];
    StatementId begin = kSetup;
    for (const StatementId i : answers.ids()) {
      const StatementId next{i.index + 1};
      if (i == kSetup && !answers[i].is_in_txn && answers[i].is_setting()) {
        begin = next;
        continue;
      }
      if (answers[i].is_in_txn && answers.contains(next)) continue;
      Unit unit{.session = s,
                .begin = begin,
                .end = next,
                .is_committed = !has_rolled_back(answers[i]) && !answers[i].is_in_txn};
      for (const StatementId j : unit.statements())
        unit.may_hold_several |= answers[j].may_hold_several;
      // A procedure or a DO block outside of a transaction block may commit.
      if (begin == i && (answers[i].tag == "CALL" || answers[i].tag == "DO"))
        unit.may_hold_several = true;
      units.push_back({ended[s].at(i.index), unit});
      begin = next;
    }
  }
  std::ranges::sort(units);
  run.units.clear();
  for (auto& [when, unit] : units) run.units.push_back(unit);
}

// A recorder in a thread of its own; `through` becomes the way that leads through it.
Result<std::unique_ptr<RunRecorder>> record_beside(const std::string& dsn, std::string& through) {
  auto address = record::read_connection_string(dsn);
  if (!address) return address.error();
  auto recorder = RunRecorder::open({.dsn = *address});
  if (!recorder) return recorder.error();
  auto words = through_proxy(dsn, (*recorder)->proxy().port());
  if (!words) return words.error();
  through = *words;
  (*recorder)->work_beside();
  return recorder;
}

}  // namespace

bool same_answer(const Answer& a, const Answer& b) {
  return a.error == b.error && a.tag == b.tag && a.tables.size() == b.tables.size() &&
         std::ranges::equal(a.tables, b.tables, [](const Table& t, const Table& u) {
           return unordered(t) == unordered(u);
         });
}

bool same_outcome(const Run& run, const SerialRun& serial) {
  ById<ActorId, StatementId> next(run.answers.size());  // of the serial run
  for (const Unit& unit : serial.order) {
    const Answers& others = serial.run.answers[unit.session];
    for (const StatementId i : unit.statements()) {
      StatementId& other = next[unit.session];
      if (!others.contains(other)) return false;
      if (!same_answer(run.answers[unit.session][i], others[other])) return false;
      ++other;
    }
  }
  return run.tables == serial.run.tables;
}

namespace {

// Have two runs of one serial order the same answers and rows?
bool same_serial_run(const Run& a, const Run& b) {
  return a.tables == b.tables &&
         std::ranges::equal(a.answers, b.answers, [](const auto& one, const auto& other) {
           return std::ranges::equal(one, other, same_answer);
         });
}

}  // namespace

Result<Experiment> Experiment::open(const Spec& spec, std::string dsn) {
  auto monitor = PgMonitor::open(dsn);
  if (!monitor) return monitor.error();
  return Experiment(spec, std::move(dsn), std::move(*monitor));
}

Result<std::map<std::string, Table>> read_tables(PgMonitor& monitor, std::string& limit,
                                                 const std::string& schema) {
  // Columns that a sequence fills are left out.
  auto columns = monitor.query(fmt::format(
      "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname),"
      "       coalesce(string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER ("
      "         WHERE a.attidentity = ''"
      "           AND coalesce(pg_get_expr(d.adbin, d.adrelid), '') NOT LIKE '%nextval(%'), '1')"
      "  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
      "  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
      "  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum"
      " WHERE c.relkind IN ('r', 'p', 'm') AND n.nspname <> 'information_schema'"
      "   AND NOT starts_with(n.nspname, 'pg_') AND has_schema_privilege(n.oid, 'USAGE')"
      "   AND has_table_privilege(c.oid, 'SELECT') AND (c.relkind <> 'm' OR c.relispopulated)"
      "   AND (n.nspname = ANY (current_schemas(false)) OR NOT starts_with(n.nspname, 'isoscope_'))"
      "   AND NOT c.relispartition"
      "   AND ('{0}' = '' OR n.nspname = '{0}')"
      " GROUP BY 1 ORDER BY 1",
      schema));
  if (!columns) return columns.error();
  std::map<std::string, Table> tables;
  for (const Row& row : *columns) {
    Answer answer =
        monitor.answer(fmt::format("SELECT {} FROM {} LIMIT {}", *row[1], *row[0], kMostRows + 1));
    if (answer.has_failed()) return Error{.what = answer.message};
    if (answer.tables[0].rows.size() > kMostRows)
      limit = fmt::format("{} has more than {} rows", *row[0], kMostRows);
    tables[*row[0]] = unordered(std::move(answer.tables[0]));
  }
  return tables;
}

Result<void> Experiment::play_sessions(const Turns& turns, const ById<ActorId, std::size_t>& counts,
                                       bool is_recorded, Run& run, Budget& budget) {
  std::vector<ActorScript> actors;
  for (const ActorId s : spec_->sessions.ids()) {
    const SpecSession& session = spec_->sessions[s];
    std::vector<std::string> statements = {session.setup};
    for (std::size_t i = 0; i < counts[s]; ++i)
      statements.push_back(session.steps.entries()[i].sql);
    actors.push_back({.name = session.name, .script = say(std::move(statements))});
  }
  std::unique_ptr<RunRecorder> recorder;
  std::string dsn = dsn_;
  if (is_recorded) {
    auto opened = record_beside(dsn_, dsn);
    if (!opened) {
      run.recorded.why = opened.error().what;
    } else {
      recorder = std::move(*opened);
    }
  }
  {
    auto stage = PgSessions::open({.dsn = dsn, .monitor = dsn_}, std::move(actors));
    if (!stage) return stage.error();
    auto played = play(**stage, {.turns = turns}, budget);
    if (!played) return played.error();
    run.played = std::move(*played);
    for (const ActorId s : spec_->sessions.ids()) run.answers.push_back((*stage)->answers(s));
  }
  if (recorder == nullptr) return {};
  recorder->close();
  run.recorded = recorder->judge(
      [](const record::Client& client) {
        const std::string& name = client.application;
        return name.starts_with(kActorName) ? name.substr(kActorName.size())
                                            : fmt::format("connection {}", client.connection);
      },
      budget);
  return {};
}

Result<Run> Experiment::play_turns(const Turns& turns, const ById<ActorId, std::size_t>& counts,
                                   bool is_recorded, Budget& budget) {
  Run run;
  std::string teardown;
  for (const SpecSession& session : spec_->sessions) teardown += session.teardown + ";\n";
  const CleanupIfKilled if_killed = CleanupIfKilled::of_sql(dsn_, teardown + spec_->teardown);
  for (const std::string& setup : spec_->setups) {
    run.setups.push_back(monitor_->answer(setup));
    if (!run.setups.back().has_failed()) continue;
    // What came before it is there.
    if (run.setups.size() > 1 && !spec_->teardown.empty()) monitor_->answer(spec_->teardown);
    return Error{.what = fmt::format("setup failed: {}", run.setups.back().message), .hint = setup};
  }
  Result<void> outcome = play_sessions(turns, counts, is_recorded, run, budget);
  // The connections are closed; what they left open is rolled back when their processes end, which
  // the tables below wait for: a DROP in teardown takes its lock only then.
  if (outcome) {
    auto tables = read_tables(*monitor_, unstable_);
    if (tables) {
      run.tables = std::move(*tables);
    } else {
      outcome = tables.error();
    }
  }
  for (const SpecSession& session : spec_->sessions)
    if (!session.teardown.empty()) monitor_->answer(session.teardown);
  if (!spec_->teardown.empty()) {
    const Answer answer = monitor_->answer(spec_->teardown);
    if (outcome && answer.has_failed())
      outcome = Error{.what = fmt::format("teardown failed: {}", answer.message),
                      .hint = spec_->teardown};
  }
  if (!outcome) return outcome.error();
  for (const ActorId s : run.answers.ids())
    if (!run.answers[s].empty() && run.answers[s][kSetup].has_failed())
      return Error{.what = fmt::format("the setup of session {} failed: {}",
                                       spec_->sessions[s].name, run.answers[s][kSetup].message),
                   .hint = spec_->sessions[s].setup};
  find_units(run);
  return run;
}

Result<Run> Experiment::run(const Permutation& permutation, Budget& budget) {
  Turns turns;
  ById<ActorId, std::size_t> counts(spec_->sessions.size(), 0);
  for (const ActorId s : counts.ids()) turns.push_back(s);  // the setups
  for (const PermutationStep& p : permutation) {
    turns.push_back(p.session);
    ++counts[p.session];
  }
  return play_turns(turns, counts, true, budget);
}

Result<SerialRun> Experiment::run_serially(const std::vector<Unit>& order, Budget& budget) {
  // A unit behind one that is left out would need statements that were not sent; sessions are
  // therefore scripts of the units that are played.
  Spec serial = *spec_;
  Turns turns;
  ById<ActorId, std::size_t> counts(serial.sessions.size(), 0);
  for (SpecSession& session : serial.sessions) session.steps.clear();
  ById<ActorId, bool> has_setup(serial.sessions.size(), false);
  for (const Unit& unit : order) {
    SpecSession& session = serial.sessions[unit.session];
    const SpecSession& original = spec_->sessions[unit.session];
    for (const StatementId i : unit.statements()) {
      turns.push_back(unit.session);
      if (i == kSetup) {
        has_setup[unit.session] = true;
      } else {
        session.steps.push_back(*step_of(original, i));
        ++counts[unit.session];
      }
    }
  }
  for (const ActorId s : has_setup.ids()) {
    if (has_setup[s]) continue;
    if (!has_plain_setup_[s]) serial.sessions[s].setup.clear();
    turns.insert(turns.begin(), s);
  }
  const Spec* original = spec_;
  spec_ = &serial;
  auto run = play_turns(turns, counts, false, budget);
  spec_ = original;
  if (!run) return run.error();
  for (const ActorId s : has_setup.ids()) {
    auto& answers = run->answers[s].entries();
    if (!has_setup[s] && !answers.empty()) answers.erase(answers.begin());
  }
  return SerialRun{.order = order, .run = std::move(*run)};
}

Result<Judgement> Experiment::judge(const Run& run, Budget& budget) {
  Judgement judgement;
  if (run.played.end != Played::End::Complete) {
    judgement.why = run.played.end == Played::End::Stuck
                        ? "a statement waits for a session that has no further step"
                        : limit_reached() + " was reached";
    return judgement;
  }
  note_setups(run);
  const std::vector<Unit> units = committed_units(run);
  auto& serial = serial_[units];
  if (serial == nullptr) {
    const auto orders = serial_orders(units, kMostSerialOrders);
    if (orders.empty()) {
      judgement.why = fmt::format("there are more than {} serial orders", kMostSerialOrders);
      return judgement;
    }
    auto runs = std::make_shared<std::vector<SerialRun>>();
    for (const auto& order : orders) {
      auto one = run_serially(order, budget);
      if (!one) return one.error();
      if (one->run.played.end == Played::End::Limit) {
        judgement.why = limit_reached() + " was reached";
        return judgement;
      }
      runs->push_back(std::move(*one));
    }
    auto again = run_serially(orders.front(), budget);
    if (!again) return again.error();
    if (!same_serial_run(again->run, runs->front().run) && unstable_.empty())
      unstable_ = "the same serial order answers differently from run to run";
    serial = runs;
  }
  judgement.serial = serial;
  if (!unstable_.empty()) {
    judgement.why = unstable_;
    return judgement;
  }
  const bool is_serializable = std::ranges::any_of(
      *serial, [&](const SerialRun& candidate) { return same_outcome(run, candidate); });
  const auto mixed = std::ranges::find_if(run.units, [&](const Unit& unit) {
    return unit.may_hold_several && !(is_serializable && unit.is_committed);
  });
  if (mixed != run.units.end()) {
    judgement.why = fmt::format(
        "a step of session {} may hold several transactions, which serial orders keep together",
        spec_->sessions[mixed->session].name);
    return judgement;
  }
  judgement.kind =
      is_serializable ? Judgement::Kind::Serializable : Judgement::Kind::Unserializable;
  return judgement;
}

void Experiment::note_setups(const Run& run) {
  has_plain_setup_.clear();
  for (const Answers& answers : run.answers)
    has_plain_setup_.push_back(!answers.empty() && !answers[kSetup].is_in_txn &&
                               answers[kSetup].is_setting());
}

Result<std::string> Experiment::failure_by_itself(const Run& run, Budget& budget) {
  note_setups(run);
  for (const Unit& unit : run.units) {
    const Answer* failed = nullptr;
    for (const StatementId i : unit.statements()) {
      const Answer& answer = run.answers[unit.session][i];
      if (failed == nullptr && answer.has_failed() && !sql::is_by_conflict(answer.error))
        failed = &answer;
    }
    if (failed == nullptr) continue;
    std::vector<Unit> alone;
    for (const Unit& other : run.units)
      if (other.session == unit.session && other.end <= unit.begin && other.is_committed)
        alone.push_back(other);
    alone.push_back(unit);
    auto known = alone_.find(alone);
    if (known == alone_.end()) {
      auto serial = run_serially(alone, budget);
      if (!serial) return serial.error();
      std::string error;
      for (const Answer& answer : serial->run.answers[unit.session])
        if (answer.has_failed() && error.empty()) error = answer.error;
      known = alone_.emplace(alone, error).first;
    }
    if (known->second != failed->error) continue;
    return fmt::format(
        "a statement of session {} fails with {} also when that session is alone: {}",
        spec_->sessions[unit.session].name, failed->error, failed->message);
  }
  return std::string();
}

}  // namespace isoscope::force
