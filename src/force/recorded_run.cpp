#include "force/recorded_run.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/jsonl.h"
#include "record/record.h"
#include "record/resolve.h"
#include "record/run_file.h"

namespace isoscope::force {
namespace {

// The levels of which the history is asked, besides ser.
constexpr const char* kFurtherLevels[] = {"si", "pg-ser", "pg-rr", "pg-rc"};

// What a query of several tables may depend on, or not.
bool is_coarse(const record::RunEvent& event) { return event.is_coarse; }

std::string text_of_run(const record::ResolvedRun& run, bool with_coarse) {
  std::string text = record::run_header(run.initial);
  for (const record::ResolvedTxn& r : run.txns) {
    auto events = r.events;
    // A server that ends a transaction because it is in no serial order promises nothing of what it
    // read until then.
    if (r.txn.status == TxnStatus::Aborted)
      for (auto& of_statement : events)
        std::erase_if(of_statement, [](const record::RunEvent& event) {
          return event.kind == record::RunEvent::Kind::Read;
        });
    if (!with_coarse)
      for (auto& of_statement : events) std::erase_if(of_statement, is_coarse);
    text += record::run_line(r.txn, r.session, r.id, events, r.commit);
  }
  return text;
}

bool is_write(const record::RunEvent& event) {
  using Kind = record::RunEvent::Kind;
  return event.kind == Kind::Write || event.kind == Kind::Insert || event.kind == Kind::Delete;
}

// The committed writers of each key, in the order of commits.
std::map<std::string, std::vector<const record::ResolvedTxn*>> writers_of(
    const record::ResolvedRun& run) {
  std::vector<const record::ResolvedTxn*> ordered;
  for (const record::ResolvedTxn& r : run.txns)
    if (r.txn.status == TxnStatus::Committed) ordered.push_back(&r);
  std::ranges::stable_sort(ordered, {}, &record::ResolvedTxn::commit);
  std::map<std::string, std::vector<const record::ResolvedTxn*>> writers;
  for (const record::ResolvedTxn* r : ordered)
    for (const auto& events : r->events)
      for (const record::RunEvent& event : events)
        if (auto& of = writers[event.key]; is_write(event) && (of.empty() || of.back() != r))
          of.push_back(r);
  return writers;
}

// The run, and then a transaction of each session that reads what is there in the end: so a serial
// order must leave the same rows.
std::string text_with_end(const record::ResolvedRun& run) {
  std::vector<record::RunEvent> last;
  for (const auto& [key, writers] : writers_of(run))
    if (!writers.empty())
      last.push_back(
          {.kind = record::RunEvent::Kind::Read, .key = key, .from = writers.back()->id});
  std::set<std::string> sessions;
  for (const record::ResolvedTxn& r : run.txns) sessions.insert(r.session);
  std::string text = text_of_run(run, true);
  record::RecordedTxn reader{
      .status = TxnStatus::Committed,
      .isolation = record::Isolation::of(sql::server::PgLevel::Serializable)};
  reader.statements.push_back({.kind = record::StatementKind::Select, .sql = "(the end)"});
  for (const std::string& session : sessions)
    text += record::run_line(reader, session, "the end of " + session, {last});
  return text;
}

// The run, where each write also reads the version before it: so a serial order must keep the
// order of the versions.
std::string text_with_order(const record::ResolvedRun& run) {
  const auto writers = writers_of(run);
  record::ResolvedRun ordered = run;
  for (std::size_t t = 0; t < run.txns.size(); ++t) {
    std::set<std::string> seen;
    for (auto& events : ordered.txns[t].events) {
      std::vector<record::RunEvent> before;
      for (const record::RunEvent& event : events) {
        const auto known = writers.find(event.key);
        if (!is_write(event) || known == writers.end() || !seen.insert(event.key).second) continue;
        const auto place = std::ranges::find(known->second, &run.txns[t]);
        if (place == known->second.end()) continue;
        before.push_back({.kind = record::RunEvent::Kind::Read,
                          .key = event.key,
                          .from = place == known->second.begin() ? "T0" : (*std::prev(place))->id});
      }
      events.insert(events.begin(), before.begin(), before.end());
    }
  }
  return text_of_run(ordered, true);
}

bool has_coarse_reads(const record::ResolvedRun& run) {
  return std::ranges::any_of(run.txns, [](const record::ResolvedTxn& r) {
    return std::ranges::any_of(
        r.events, [](const auto& events) { return std::ranges::any_of(events, is_coarse); });
  });
}

Result<History> history_of_text(std::string_view text, RunNotes& notes) {
  LineReader in = LineReader::over(text);
  return read_jsonl(in, &notes);
}

// SET outside of transactions: nothing for a history.
bool only_sets(const record::RecordedTxn& txn) {
  return txn.gaps.empty() &&
         std::ranges::all_of(txn.statements, [](const record::RecordedStatement& statement) {
           return statement.kind == record::StatementKind::Setting ||
                  statement.kind == record::StatementKind::SetSession;
         });
}

RecordedRun unjudged(std::string why, std::string text = {}) {
  return {.kind = RecordedRun::Kind::Unknown, .why = std::move(why), .text = std::move(text)};
}

}  // namespace

RecordedRun judge_history(std::string text, std::string_view fine, Budget& budget) {
  RunNotes notes;
  auto history = history_of_text(text, notes);
  if (!history)
    return unjudged("the recorded history cannot be read: " + history.error().what, text);
  RecordedRun run{.text = std::move(text),
                  .history = std::make_shared<History>(*std::move(history))};
  const LevelSet levels = LevelSet::built_in();
  const auto ask = [&](const History& h, const char* name) {
    const auto level = levels.find(name);
    return isoscope::check(h, **level, budget).verdict;
  };
  if (!has_committed(*run.history)) {
    // Nothing took effect, so nothing went wrong; but what was not understood may have.
    run.kind = notes.gaps == 0 ? RecordedRun::Kind::Serializable : RecordedRun::Kind::Unknown;
    run.why = notes.limit();
    return run;
  }
  Verdict ser = ask(*run.history, "ser");
  run.levels.emplace_back("ser", ser.outcome);
  run.violation = ser.violation;
  for (const char* name : kFurtherLevels)
    run.levels.emplace_back(name, ask(*run.history, name).outcome);
  switch (ser.outcome) {
    case Outcome::Violated: {
      bool stands = fine.empty();
      if (!stands) {
        RunNotes fine_notes;
        const auto without = history_of_text(fine, fine_notes);
        stands = without && ask(*without, "ser").outcome == Outcome::Violated;
      }
      if (stands) {
        run.kind = RecordedRun::Kind::Unserializable;
      } else {
        run.why =
            "the recorded history is unserializable only by rows of a join, on which the statement "
            "may not depend";
      }
      return run;
    }
    case Outcome::Consistent:
      run.kind = notes.gaps == 0 ? RecordedRun::Kind::Serializable : RecordedRun::Kind::Unknown;
      run.why = notes.limit();
      return run;
    case Outcome::Unknown: run.why = ser.limit; return run;
  }
  return run;
}

Result<std::unique_ptr<RunRecorder>> RunRecorder::open(const Options& options) {
  std::unique_ptr<RunRecorder> made(new RunRecorder);
  auto isolation = record::default_isolation(options.dsn);
  if (!isolation) return isolation.error();
  auto log = record::ServerLog::open(options.dsn.text);
  if (log) {
    made->log_.emplace(std::move(*log));
  } else {
    made->no_log_ = log.error().what;
  }
  record::ProxyOptions proxied{.server = options.dsn.server,
                               .default_isolation = *isolation,
                               .gates = made->log_ ? &made->gates_ : nullptr,
                               .doors = options.doors,
                               .turns = options.turns};
  if (options.dsn.tls.is_wanted) {
    auto tls = record::TlsContext::for_server(options.dsn.tls);
    if (!tls) return tls.error();
    proxied.server_tls = std::move(*tls);
  }
  auto proxy = record::Proxy::listen(
      std::move(proxied),
      [recorder = made.get()](const record::Client& client, record::RecordedTxn txn) {
        recorder->txns_.emplace_back(client, std::move(txn));
      });
  if (!proxy) return proxy.error();
  made->proxy_ = std::move(*proxy);
  return made;
}

RunRecorder::~RunRecorder() { close(); }

void RunRecorder::work_beside() {
  worker_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) proxy_->step(5);
  });
}

void RunRecorder::close() {
  if (worker_.joinable()) {
    worker_.request_stop();
    worker_.join();
  }
  if (proxy_ == nullptr) return;
  proxy_->stop_listening();
  proxy_->close_all();
}

RecordedRun RunRecorder::judge(const std::function<std::string(const record::Client&)>& session_of,
                               Budget& budget) {
  if (!log_) return unjudged("the server does not let the run be recorded: " + no_log_);
  std::vector<std::pair<std::string, record::RecordedTxn>> named;
  for (const auto& [client, txn] : txns_)
    if (!only_sets(txn)) named.emplace_back(session_of(client), txn);
  if (named.empty()) return unjudged("no statement came through the recorder");
  return judge_txns(std::move(named), *log_, gates_, {}, budget);
}

Result<RecordedTexts> recorded_texts(std::vector<std::pair<std::string, record::RecordedTxn>> txns,
                                     record::ServerLog& log, record::Gatekeeper& gates,
                                     const std::string& home) {
  const auto resolved = record::resolve(txns, log, gates, home);
  if (!resolved) return resolved.error();
  return RecordedTexts{
      .text = text_of_run(*resolved, true),
      .fine = has_coarse_reads(*resolved) ? text_of_run(*resolved, false) : std::string()};
}

RecordedRun judge_txns(std::vector<std::pair<std::string, record::RecordedTxn>> txns,
                       record::ServerLog& log, record::Gatekeeper& gates, const std::string& home,
                       Budget& budget) {
  auto resolved = record::resolve(txns, log, gates, home);
  if (!resolved) return unjudged("the server's log could not be used: " + resolved.error().what);
  RecordedRun run = judge_history(
      text_of_run(*resolved, true),
      has_coarse_reads(*resolved) ? text_of_run(*resolved, false) : std::string(), budget);
  if (run.kind != RecordedRun::Kind::Serializable) return run;
  // A serial order must also leave the same rows. One that needs another order of versions is none
  // that can be relied on: answers of rows to questions are recorded for this order only.
  RecordedRun with_end = judge_history(text_with_end(*resolved), {}, budget);
  if (with_end.kind == RecordedRun::Kind::Unserializable) {
    if (!has_coarse_reads(*resolved)) return with_end;
    run.kind = RecordedRun::Kind::Unknown;
    run.why = "whether a serial order leaves the same rows depends on rows of a join";
    return run;
  }
  const RecordedRun with_order = judge_history(text_with_order(*resolved), {}, budget);
  if (with_end.kind != RecordedRun::Kind::Serializable ||
      with_order.kind != RecordedRun::Kind::Serializable) {
    run.kind = RecordedRun::Kind::Unknown;
    run.why = "a serial order would have to write the versions of a row in another order";
    return run;
  }
  return run;
}

Result<std::string> through_proxy(const std::string& dsn, int port) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> given(
      PQconninfoParse(dsn.c_str(), &message), PQconninfoFree);
  if (given == nullptr) {
    const Error error{.what = message != nullptr ? message : "this is no connection string"};
    PQfreemem(message);
    return error;
  }
  static const std::set<std::string> kReplaced = {"host", "hostaddr", "port", "sslmode",
                                                  "gssencmode"};
  std::string words;
  for (const PQconninfoOption* o = given.get(); o->keyword != nullptr; ++o) {
    if (o->val == nullptr || kReplaced.contains(o->keyword)) continue;
    words += fmt::format("{}='", o->keyword);
    for (const char c : std::string_view(o->val)) {
      if (c == '\'' || c == '\\') words += '\\';
      words += c;
    }
    words += "' ";
  }
  return words + fmt::format("host=127.0.0.1 port={} sslmode=disable gssencmode=disable", port);
}

}  // namespace isoscope::force
