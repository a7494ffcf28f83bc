#include "record/record.h"

#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <optional>

#include "record/command_process.h"
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

// Takes transactions as they end, writes them at once as far as they are known then, and at the end
// all anew, with what they read and wrote.
class Recording {
 public:
  Recording(Output output, std::string path, std::string no_log)
      : output_(std::move(output)), path_(std::move(path)), no_log_(std::move(no_log)) {
    output_.write(run_header());
  }

  void add(const Client& client, RecordedTxn txn) {
    const std::string& session = names_.name(client);
    const std::vector<Gap> gaps = txn.gaps;
    doubt(txn, no_log_.empty() ? "the recording did not come to its end" : no_log_);
    output_.write(run_line(txn, session, fmt::format("T{}", txns_.size() + 1), {}));
    txn.gaps = gaps;
    txns_.emplace_back(session, std::move(txn));
  }

  // `log`: null if the server gives none.
  Result<RecordSummary> finish(ServerLog* log, Gatekeeper& gates, const RecordOptions& options) {
    if (auto closed = output_.close(); !closed) return closed.error();
    summary_.sessions = names_.count();
    std::string why = no_log_;
    if (log != nullptr) {
      auto resolved = resolve(txns_, *log, gates);
      if (resolved) {
        if (auto written = rewrite(*resolved); !written) return written.error();
        return summary_;
      }
      options.on_trouble(resolved.error());
      why = "the server's log could not be used";
    }
    for (auto& [session, txn] : txns_) {
      doubt(txn, why);
      count(txn);
    }
    return summary_;
  }
  bool has_failed() const { return output_.has_failed(); }

 private:
  static void doubt(RecordedTxn& txn, const std::string& why) {
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      if (!is_harmless(txn.statements[i].kind)) txn.gaps.push_back({i + 1, why});
    }
  }

  Result<void> rewrite(const ResolvedRun& resolved) {
    auto output = Output::open(path_);
    if (!output) return output.error();
    output->write(run_header(resolved.initial));
    for (const ResolvedTxn& r : resolved.txns) {
      count(r.txn);
      output->write(run_line(r.txn, r.session, r.id, r.events, r.commit));
    }
    return output->close();
  }

  void count(const RecordedTxn& txn) {
    ++summary_.transactions;
    if (txn.status == TxnStatus::Committed) ++summary_.committed;
    if (txn.status == TxnStatus::Aborted) ++summary_.aborted;
    summary_.statements += txn.statements.size();
    std::vector<bool> has_gap(txn.statements.size() + 1);
    for (const Gap& gap : txn.gaps) {
      GapCount& counted = summary_.gaps[gap.why];
      ++counted.count;
      const std::size_t i = gap.statement;
      if (counted.example.empty() && i > 0 && i <= txn.statements.size())
        counted.example = txn.statements[i - 1].sql;
      if (i < has_gap.size()) has_gap[i] = true;
    }
    for (std::size_t i = 1; i < has_gap.size(); ++i) summary_.understood += has_gap[i] ? 0 : 1;
  }

  Output output_;
  std::string path_;
  std::string no_log_;  // why there is no log of the server's; empty if there is
  SessionNames names_;
  std::vector<std::pair<std::string, RecordedTxn>> txns_;
  RecordSummary summary_;
};

// Runs proxy and command to their end. Returns the exit code of the command.
Result<int> serve(const RecordOptions& options, Proxy& proxy, const Recording& recording) {
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

}  // namespace

Result<std::string> default_isolation(const ConnectionString& dsn) {
  auto sql = SqlConnection::open(dsn.text);
  if (!sql) return sql.error();
  auto answer = sql->query("SHOW default_transaction_isolation");
  if (!answer) return answer.error();
  return answer->at(0).at(0).value_or("read committed");
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
  auto log = ServerLog::open(options.dsn.text);
  if (!log) options.on_trouble(log.error());
  Gatekeeper gates;
  Recording recording(std::move(*output), options.output, log ? std::string() : log.error().what);
  proxied.default_isolation = *isolation;
  proxied.gates = log ? &gates : nullptr;
  auto proxy = Proxy::listen(std::move(proxied), [&](const Client& client, RecordedTxn txn) {
    recording.add(client, std::move(txn));
  });
  if (!proxy) return proxy.error();
  options.on_listening((*proxy)->port());
  auto exit_code = serve(options, **proxy, recording);
  if (!exit_code) return exit_code.error();
  auto summary = recording.finish(log ? &*log : nullptr, gates, options);
  if (!summary) return summary.error();
  summary->connections = (*proxy)->numbers().connections;
  summary->exit_code = *exit_code;
  return summary;
}

}  // namespace isoscope::record
