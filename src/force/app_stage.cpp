#include "force/app_stage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "record/server_log.h"
#include "sql/read/psql_lines.h"

namespace isoscope::force {

const Answer* call_answer(const Answers& answers) {
  for (const Answer& answer : answers)
    if (answer.tag != "gate") return &answer;
  return nullptr;
}

bool has_committed(const Answers& answers) {
  return !answers.empty() && answers.back().tag == "COMMIT";
}

std::vector<GateNotice> notices_of(const Answers& answers) {
  std::vector<std::string> told;
  for (const Answer& answer : answers)
    told.insert(told.end(), answer.notices.begin(), answer.notices.end());
  return read_notices(told);
}

Result<std::unique_ptr<AppSchema>> AppSchema::open(const std::string& dsn, std::string_view text) {
  std::unique_ptr<AppSchema> made(new AppSchema);
  made->text_ = sql::without_psql_lines(text);
  made->schema_ = fmt::format("isoscope_force_{}", ::getpid());
  made->if_killed_ =
      CleanupIfKilled::of_sql(dsn, "DROP SCHEMA IF EXISTS " + made->schema_ + " CASCADE");
  auto monitor = PgMonitor::open(dsn);
  if (!monitor) return monitor.error();
  made->monitor_ = std::move(*monitor);
  made->monitor_->answer("SET client_min_messages = warning");
  auto gated = with_gates(made->text_, made->schema_, Gates::Record);
  if (!gated) return gated.error();
  made->gated_ = std::move(*gated);
  return made;
}

AppSchema::~AppSchema() {
  if (monitor_ != nullptr) monitor_->answer("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
}

bool AppSchema::take_gates_back(const std::string& why) {
  if (!has_gates_) return false;
  if (is_recorded()) {
    no_record_ = why;
    auto gated = with_gates(text_, schema_, Gates::Stop);
    if (gated) {
      gated_ = std::move(*gated);
      return true;
    }
  }
  has_gates_ = false;
  gated_ = {.sql = text_};
  return true;
}

std::vector<std::string> AppSchema::session_setup() const {
  return {fmt::format("SET search_path = {}, public", schema_)};
}

// All in one transaction: what the server refuses, and what we do, leaves nothing.
Result<void> AppSchema::load() {
  for (;;) {
    monitor_->answer("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
    monitor_->answer("BEGIN");
    auto loaded = load_inside();
    if (loaded) {
      const Answer committed = monitor_->answer("COMMIT");
      if (!committed.has_failed()) return {};
      loaded =
          Error{.what = fmt::format("the server refuses the application: {}", committed.message)};
    }
    monitor_->answer("ROLLBACK");
    if (!is_refused_) return loaded;
    is_refused_ = false;
    if (!take_gates_back("the server refuses the functions with gates: " + refusal_)) return loaded;
  }
}

Result<void> AppSchema::load_inside() {
  const std::string path = fmt::format("SET search_path = {}, public", schema_);
  std::string since;
  for (const std::string& sql :
       {"CREATE SCHEMA " + schema_, gate_functions(schema_), path, gated_.sql}) {
    if (sql == gated_.sql)
      since = monitor_->answer("SELECT pg_current_xact_id()::xid").value().value_or("0");
    const Answer answer = monitor_->answer(sql);
    if (!answer.has_failed()) continue;
    is_refused_ = sql == gated_.sql;
    refusal_ = answer.message;
    return Error{.what = fmt::format("the server refuses the application: {}", answer.message)};
  }
  const auto outside = created_outside(since);
  if (!outside) return outside.error();
  if (outside->empty()) return {};
  return Error{
      .what = fmt::format("the application creates {} outside of its own schema", *outside),
      .hint =
          "leave out the names of schemas: it is loaded into a schema of its own, which "
          "is dropped again"};
}

Result<std::string> AppSchema::created_outside(const std::string& since) const {
  // An application with COMMIT in it is over when we ask, so that others may have come since.
  const Cell now = monitor_->answer("SELECT pg_current_xact_id()::xid").value();
  auto rows = monitor_->query(
      fmt::format("SELECT string_agg(what, ', ' ORDER BY what) FROM ("
                  "SELECT 'schema ' || quote_ident(nspname) FROM pg_namespace"
                  "  WHERE nspname <> '{0}' AND NOT starts_with(nspname, 'pg_temp') AND {1} "
                  "UNION ALL SELECT 'table ' || c.oid::regclass FROM pg_class c"
                  "  WHERE relkind IN ('r', 'p', 'v', 'm') AND relpersistence <> 't'"
                  "    AND relnamespace <> '{0}'::regnamespace AND {1} "
                  "UNION ALL SELECT 'function ' || p.oid::regprocedure FROM pg_proc p"
                  "  WHERE pronamespace <> '{0}'::regnamespace AND {1}) l(what)",
                  schema_,
                  now == since ? fmt::format("xmin = '{}'::xid", since)
                               : fmt::format("age(xmin) <= age('{}'::xid)", since)));
  if (!rows) return rows.error();
  return rows->at(0).at(0).value_or("");
}

Result<AppStage> AppStage::open(const std::string& dsn, std::string_view text, AppCalls calls) {
  auto schema = AppSchema::open(dsn, text);
  if (!schema) return schema.error();
  return AppStage(dsn, std::move(calls), std::move(*schema));
}

Result<Run> AppStage::play(const CallOrder& order, const Turns& turns, bool is_recorded,
                           Budget& budget) {
  for (;;) {
    if (auto loaded = schema_->load(); !loaded) return loaded.error();
    auto run = play_once(order, turns, is_recorded, budget);
    if (!run || !schema_->is_recorded()) return run;
    // A name that is a variable to us may be something else to the server.
    const Answer* refused = nullptr;
    for (const auto& answers : run->answers)
      for (const Answer& answer : answers)
        if (answer.error.starts_with("42")) refused = &answer;
    if (refused == nullptr) return run;
    schema_->take_gates_back(
        fmt::format("a function fails with {}: {}", refused->error, refused->message));
  }
}

Result<Run> AppStage::play_once(const CallOrder& order, const Turns& turns, bool is_recorded,
                                Budget& budget) {
  std::vector<ActorScript> actors;
  for (const AppCallId call : order)
    actors.push_back(
        {.name = calls_[call].name,
         .script = say_until_failure({calls_[call].begin() + "; " + calls_[call].call, "COMMIT"}),
         .setup = schema_->session_setup()});
  Run run;
  std::optional<record::ServerLog> log;
  if (!schema_->is_recorded()) {
    run.recorded.why = schema_->no_record();
  } else if (is_recorded) {
    auto opened = record::ServerLog::open(dsn_);
    if (opened) log.emplace(std::move(*opened));
    if (!opened)
      run.recorded.why = "the server does not let the run be recorded: " + opened.error().what;
  }
  {
    auto stage = PgSessions::open({.dsn = dsn_, .has_gates = true}, std::move(actors));
    if (!stage) return stage.error();
    auto played =
        force::play(**stage, {.turns = turns, .plays_rest = true, .rest_goes_on = true}, budget);
    if (!played) return played.error();
    run.played = std::move(*played);
    for (const ActorId a : order.ids()) run.answers.push_back((*stage)->answers(a));
  }
  if (log && run.played.end == Played::End::Complete)
    run.recorded = judge(order, run, *log, budget);
  auto tables = read_tables(schema_->monitor(), unstable, schema_->name());
  if (!tables) return tables.error();
  // The schema's name is ours.
  for (auto& [name, table] : *tables)
    run.tables[name.substr(schema_->name().size() + 1)] = std::move(table);
  return run;
}

RecordedRun AppStage::judge(const CallOrder& order, const Run& run, record::ServerLog& log,
                            Budget& budget) const {
  std::vector<std::pair<std::string, record::RecordedTxn>> txns;
  // In the order of their ends.
  std::vector<ActorId> ended;
  for (auto m = run.played.moments.rbegin(); m != run.played.moments.rend(); ++m)
    if (m->kind == Moment::Kind::Answered && std::ranges::find(ended, m->actor) == ended.end())
      ended.insert(ended.begin(), m->actor);
  for (const ActorId actor : ended) {
    const AppCall& call = calls_[order[actor]];
    const Answers& answers = run.answers[actor];
    CalledTxn called{.connection = actor.index + 1,
                     .function = call.function,
                     .isolation = call.isolation,
                     .status = has_committed(answers) ? TxnStatus::Committed : TxnStatus::Aborted,
                     .notices = notices_of(answers)};
    for (const Answer& answer : answers)
      if (answer.has_failed() && called.error.empty()) called.error = answer.error;
    auto txn = recorded_txn(schema_->gated(), called);
    if (!txn.statements.empty() || !txn.gaps.empty())
      txns.emplace_back(call.session_name, std::move(txn));
  }
  if (txns.empty()) return {.why = "no statement of a function was recorded"};
  record::Gatekeeper gates;
  return judge_txns(std::move(txns), log, gates, schema_->name(), budget);
}

}  // namespace isoscope::force
