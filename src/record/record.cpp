#include "record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <set>

#include "record/appended_run.h"
#include "record/command_process.h"
#include "record/journal.h"
#include "record/proxy.h"
#include "record/resolve.h"
#include "record/run_file.h"
#include "record/server_log.h"
#include "support/output.h"

namespace isoscope::record {
namespace {

constexpr int kStepMilliseconds = 20;
// How long connections may stay open when the command has ended, and a command that was asked to
// end may still run.
constexpr Microseconds kGrace = 2'000'000;

constexpr const char* kUnfinished =
    "the recording did not come to its end (isoscope record --recover finishes it)";
// Without the server's log there is nothing to finish it from.
constexpr const char* kEndedEarly = "the recording did not come to its end";

// Counts what became of the statements.
void count(const RecordedTxn& txn, RecordSummary& summary) {
  ++summary.transactions;
  if (txn.status == TxnStatus::Committed) ++summary.committed;
  if (txn.status == TxnStatus::Aborted) ++summary.aborted;
  summary.statements += txn.statements.size();
  std::vector<bool> has_gap(txn.statements.size() + 1);
  for (const Gap& gap : txn.gaps) {
    GapCount& counted = summary.gaps[gap.why];
    ++counted.count;
    const std::size_t i = gap.statement;
    if (counted.example.empty() && i > 0 && i <= txn.statements.size())
      counted.example = txn.statements[i - 1].sql;
    if (i < has_gap.size()) has_gap[i] = true;
  }
  for (std::size_t i = 1; i < has_gap.size(); ++i) summary.understood += has_gap[i] ? 0 : 1;
}

// Writes a file anew, with what is known now, transaction by transaction.
class Rewriting {
 public:
  Rewriting(std::string path, RecordSummary& summary) : path_(std::move(path)), summary_(summary) {}

  ResolvedSink sink() {
    return {.start =
                [this](const InitialValues& initial) {
                  auto output = Output::open(path_);
                  if (!output) return void(failure_ = output.error());
                  output_ = std::move(*output);
                  write_run_header(initial, output_->sink());
                },
            .txn =
                [this](const ResolvedTxn& r) {
                  count(r.txn, summary_);
                  if (output_) output_->write(run_line(r.txn, r.session, r.id, r.events, r.commit));
                }};
  }
  Result<void> close() { return failure_ ? Result<void>(*failure_) : output_->close(); }

 private:
  std::string path_;
  RecordSummary& summary_;
  std::optional<Output> output_;
  std::optional<Error> failure_;
};

// Takes transactions as they end, writes them at once as far as they are known then, with the
// server's log in between, and in the end all anew, with what they read and wrote.
class Recording {
 public:
  // `log`: null if reads and writes are not recorded, and `no_log` says why. `appender`: statements
  // tell in place of the log.
  Recording(Output output, const RecordOptions& options, ServerLog* log, std::string no_log,
            const Appender* appender)
      : output_(std::move(output)),
        options_(options),
        log_(log),
        no_log_(std::move(no_log)),
        appender_(appender) {
    output_.write(run_header());
    summary_.reads = log_ == nullptr ? "none" : appender_ == nullptr ? "log" : "append";
    if (log_ == nullptr || appender_ != nullptr) return;
    output_.write(journal_start(log_->start()));
    for (const auto& [name, copy] : log_->copies()) output_.write(journal_table(name, copy));
  }

  void add(const Client& client, RecordedTxn txn) {
    const std::string& session = names_.name(client);
    const std::vector<Gap> gaps = txn.gaps;
    doubt(txn, log_ == nullptr ? no_log_ : unfinished());
    std::string line = run_line(txn, session, fmt::format("T{}", ++last_), {});
    if (log_ == nullptr) {
      output_.write(line);
      return count(txn, summary_);
    }
    if (appender_ != nullptr) {
      output_.write(line);
      txn.gaps = gaps;
      txns_.emplace_back(session, std::move(txn));
      return;
    }
    has_news_ = true;
    line = with_raw(std::move(line), txn, gaps.size());
    output_.write(line);
    if (is_spilled_) return;
    kept_bytes_ += line.size();
    txn.gaps = gaps;
    txns_.emplace_back(session, std::move(txn));
    if (kept_bytes_ <= options_.most_kept) return;
    is_spilled_ = true;
    txns_ = {};
    log_->forget();
  }

  // From time to time, the log. Each time the server decodes again what it wrote since it last
  // noted who is under way, every 15 seconds or so: asked more seldom as the run goes on, it does
  // so twice at most, and asking takes a fiftieth of the time at most.
  void pull(Microseconds now) {
    if (log_ == nullptr || appender_ != nullptr || !has_news_ || now < next_pull_) return;
    const auto start = std::chrono::steady_clock::now();
    if (!read_log()) log_failed_ = true;
    has_news_ = false;
    const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - start);
    pull_after_ = std::min(2 * pull_after_, kPullAtLeast);
    next_pull_ = now + std::max<Microseconds>(pull_after_, 50 * taken.count());
  }

  Result<RecordSummary> finish(Gatekeeper& gates) {
    summary_.sessions = names_.count();
    if (log_ == nullptr) {
      if (auto closed = output_.close(); !closed) return closed.error();
      return summary_;
    }
    const auto pulled = appender_ != nullptr ? finish_appending(*appender_, *log_, txns_)
                        : log_failed_ ? Result<void>(Error{.what = "the server's log broke off"})
                                      : read_log();
    if (auto closed = output_.close(); !closed) return closed.error();
    if (!pulled) return leave_unfinished(pulled.error());
    Rewriting rewriting(options_.output, summary_);
    if (auto resolved = resolve_all(gates, rewriting.sink()); !resolved)
      return leave_unfinished(resolved.error());
    if (auto written = rewriting.close(); !written) return written.error();
    return summary_;
  }
  bool has_failed() const { return output_.has_failed(); }

 private:
  static constexpr Microseconds kFirstPull = 500'000;
  static constexpr Microseconds kPullAtLeast = 15'000'000;

  Result<void> read_log() {
    JournalLog lines(output_.sink());
    auto pulled =
        log_->pull([&](std::string_view lsn, std::string_view data) { lines.add(lsn, data); });
    if (!pulled) return pulled.error();
    lines.finish();
    return {};
  }

  Result<void> resolve_all(Gatekeeper& gates, const ResolvedSink& sink) {
    if (!is_spilled_) return resolve(txns_, *log_, gates, sink);
    auto journal = JournalFile::open(options_.output);
    if (!journal) return journal.error();
    static_cast<void>(journal->take_copies());  // the log has them
    return resolve(*journal, *log_, gates, sink, {}, false);
  }

  // The file stays as it is, and can be finished later.
  Result<RecordSummary> leave_unfinished(const Error& why) {
    options_.on_trouble(why);
    const auto doubted = [this](RecordedTxn& txn) {
      doubt(txn, unfinished());
      count(txn, summary_);
    };
    for (auto& [session, txn] : txns_) doubted(txn);
    if (!is_spilled_) return summary_;
    auto journal = JournalFile::open(options_.output);
    if (!journal) return journal.error();
    if (auto begun = journal->rewind(); !begun) return begun.error();
    for (bool is_last = false; !is_last;) {
      auto part = journal->next_part();
      if (!part) return part.error();
      is_last = *part == nullptr;
      for (;;) {
        auto next = journal->next_txn();
        if (!next) return next.error();
        if (!*next) break;
        doubted(*(*next)->txn);
      }
    }
    return summary_;
  }

  const char* unfinished() const { return appender_ == nullptr ? kUnfinished : kEndedEarly; }

  Output output_;
  const RecordOptions& options_;
  ServerLog* log_;
  std::string no_log_;
  const Appender* appender_;
  SessionNames names_;
  std::size_t last_ = 0;                                   // number of a transaction
  std::vector<std::pair<std::string, RecordedTxn>> txns_;  // empty if they are in the file only
  std::size_t kept_bytes_ = 0;
  bool is_spilled_ = false;
  bool has_news_ = false;  // since the last pull
  bool log_failed_ = false;
  Microseconds pull_after_ = kFirstPull;
  Microseconds next_pull_ = kFirstPull;
  RecordSummary summary_;
};

// Runs proxy and command to their end. Returns the exit code of the command.
Result<int> serve(const RecordOptions& options, Proxy& proxy, Recording& recording) {
  std::optional<CommandProcess> command;
  if (!options.command.empty()) {
    auto started = CommandProcess::start(
        options.command, client_environment(options.dsn, options.listen_host, proxy.port()));
    if (!started) return started.error();
    command = std::move(*started);
  }
  Budget budget = options.budget;
  std::optional<Microseconds> asked_to_end;
  while (!command || !command->exit_code()) {
    // Whether it is over is asked some fifty times a second, not with every message.
    const Microseconds next = proxy.now() + Microseconds{1'000} * kStepMilliseconds;
    do proxy.step(kStepMilliseconds);
    while (proxy.now() < next);
    recording.pull(proxy.now());
    const bool is_over = options.is_interrupted() || budget.expired_now() || recording.has_failed();
    if (is_over && !command) break;
    if (is_over && !asked_to_end) {
      command->send(SIGTERM);
      asked_to_end = proxy.now();
    }
    if (asked_to_end && proxy.now() - *asked_to_end > kGrace) command->send(SIGKILL);
  }
  // Processes that the command left behind may still speak.
  proxy.stop_listening();
  const Microseconds end = proxy.now() + (command ? kGrace : 0);
  while (proxy.has_connections() && proxy.now() < end) proxy.step(kStepMilliseconds);
  proxy.close_all();
  return command ? command->exit_code().value_or(0) : 0;
}

// How reads and writes are recorded.
struct Way {
  std::optional<ServerLog> log;        // none: they are not
  std::unique_ptr<Appender> appender;  // statements tell in place of the log
  std::string why_not;
};

Way find_way(const RecordOptions& options) {
  Way way;
  Error no_log;
  if (options.reads != Reads::Append) {
    auto log = ServerLog::open(options.dsn.text);
    if (log) {
      way.log = std::move(*log);
      return way;
    }
    no_log = log.error();
  }
  if (options.reads != Reads::Log) {
    auto start = start_appending(options.dsn.text);
    const std::string prefix = "reads and writes are not recorded: ";
    const std::string because =
        no_log.what.starts_with(prefix) ? no_log.what.substr(prefix.size()) : no_log.what;
    if (start) {
      const std::string asked =
          "what statements read and wrote is reported by a column that is "
          "appended to them and removed again; what that cannot report is "
          "a gap";
      options.on_notice(no_log.what.empty()
                            ? asked
                            : fmt::format("the server's log cannot be used: {} ({}); {}", because,
                                          no_log.hint, asked));
      way.log = std::move(start->rows);
      way.appender = std::move(start->appender);
      return way;
    }
    no_log.what =
        prefix + (because.empty() ? "" : because + "; nor by appending: ") + start.error().what;
  }
  options.on_trouble(no_log);
  way.why_not = no_log.what;
  return way;
}

}  // namespace

Result<Isolation> default_isolation(const ConnectionString& dsn) {
  auto sql = SqlConnection::open(dsn.text);
  if (!sql) return sql.error();
  auto answer = sql->query("SHOW default_transaction_isolation");
  if (!answer) return answer.error();
  const auto& words = answer->at(0).at(0);
  return words ? Isolation::declared(*words) : Isolation::of(sql::server::PgLevel::ReadCommitted);
}

Result<RecordSummary> record(const RecordOptions& options) {
  ProxyOptions proxied{.server = options.dsn.server,
                       .listen_host = options.listen_host,
                       .listen_port = options.listen_port,
                       .requires_tls = options.requires_tls};
  if (!options.tls_certificate.empty()) {
    auto tls = TlsContext::for_clients(options.tls_certificate, options.tls_key);
    if (!tls) return tls.error();
    proxied.client_tls = std::move(*tls);
  }
  if (options.dsn.tls.is_wanted) {
    auto tls = TlsContext::for_server(options.dsn.tls);
    if (!tls) return tls.error();
    proxied.server_tls = std::move(*tls);
  }
  auto isolation = default_isolation(options.dsn);
  if (!isolation) return isolation.error();
  auto output = Output::open_lines(options.output);
  if (!output) return output.error();
  Way way = find_way(options);
  Gatekeeper gates(way.appender.get());
  Recording recording(std::move(*output), options, way.log ? &*way.log : nullptr, way.why_not,
                      way.appender.get());
  proxied.default_isolation = *isolation;
  proxied.gates = way.log ? &gates : nullptr;
  auto proxy = Proxy::listen(std::move(proxied), [&](const Client& client, RecordedTxn txn) {
    recording.add(client, std::move(txn));
  });
  if (!proxy) return proxy.error();
  options.on_listening((*proxy)->port());
  auto exit_code = serve(options, **proxy, recording);
  if (!exit_code) return exit_code.error();
  auto summary = recording.finish(gates);
  if (!summary) return summary.error();
  summary->connections = (*proxy)->numbers().connections;
  summary->exit_code = *exit_code;
  return summary;
}

Result<RecordSummary> recover(const ConnectionString& dsn, const std::string& path) {
  auto journal = JournalFile::open(path);
  if (!journal) return journal.error();
  auto log = ServerLog::of_parts(dsn.text, journal->start(), journal->take_copies());
  if (!log) return log.error();
  Gatekeeper gates;
  std::set<std::string> sessions;
  RecordSummary summary{.reads = "log"};
  Rewriting rewriting(path, summary);
  ResolvedSink sink = rewriting.sink();
  sink.txn = [&, write = sink.txn](ResolvedTxn txn) {
    if (txn.id.starts_with('T')) sessions.insert(txn.session);
    write(std::move(txn));
  };
  auto resolved = resolve(*journal, *log, gates, sink, {}, true);
  if (!resolved) return resolved.error();
  if (auto written = rewriting.close(); !written) return written.error();
  summary.sessions = sessions.size();
  return summary;
}

}  // namespace isoscope::record
