// isoscope record --dsn DSN -o RUN.jsonl [-- COMMAND ARG …]
#include "record/record.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/files.h"
#include "report/header.h"
#include "support/output.h"
#include "support/printable.h"
#include "support/shorten.h"

namespace isoscope {

namespace {

struct RecordArguments {
  CommonOptions common;
  std::string dsn;
  std::string listen = "127.0.0.1:0";
  std::string reads = "auto";
  std::string tls_certificate;
  std::string tls_key;
  std::string recovered;
  std::vector<std::string> command;
};

volatile std::sig_atomic_t recording_interrupted = 0;

// The first signal ends the recording, the second one the program.
extern "C" void end_recording(int number) {
  if (recording_interrupted != 0) {
    remove_temporaries();
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  recording_interrupted = 1;
}

void end_recording_by_signals() {
  struct sigaction action = {};
  action.sa_handler = end_recording;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old = {};
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
}

// "127.0.0.1:6432"
Result<void> read_listen(const std::string& text, record::RecordOptions& options) {
  const std::size_t colon = text.rfind(':');
  const Error wrong{.what = fmt::format("'{}' is no place to listen at", text),
                    .hint = "write --listen 127.0.0.1:6432"};
  if (colon == std::string::npos || colon == 0) return wrong;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data() + colon + 1, end, options.listen_port);
  if (failure != std::errc() || stop != end || options.listen_port < 0 ||
      options.listen_port > 65535)
    return wrong;
  options.listen_host = text.substr(0, colon);
  if (options.listen_host.starts_with('[') && options.listen_host.ends_with(']'))
    options.listen_host = options.listen_host.substr(1, options.listen_host.size() - 2);
  options.requires_tls = options.listen_host != "127.0.0.1" && options.listen_host != "localhost" &&
                         options.listen_host != "::1";
  if (options.requires_tls && options.tls_certificate.empty())
    return Error{
        .what = fmt::format("{} is not loopback, and passwords and data would cross the network "
                            "unencrypted",
                            options.listen_host),
        .hint = "give a certificate and its key: --tls-cert FILE --tls-key FILE"};
  return {};
}

std::string record_text(const record::RecordSummary& summary, const std::string& path) {
  std::string out =
      fmt::format("recorded {} transactions ({} committed, {} aborted) of {} sessions in {}\n",
                  summary.transactions, summary.committed, summary.aborted, summary.sessions, path);
  out += fmt::format("statements {}, understood {}\n", summary.statements, summary.understood);
  for (const auto& [why, gap] : summary.gaps) {
    out += fmt::format("  gap: {} ({})\n", why, gap.count);
    if (!gap.example.empty())
      out += fmt::format("    such as {}\n", printable(shortened(gap.example, 100)));
  }
  return out;
}

std::string record_json(const record::RecordSummary& summary) {
  Json json = json_header(header_of("record", {.outcome = Outcome::Ok}, seconds_running()));
  json["sessions"] = summary.sessions;
  json["transactions"] = summary.transactions;
  json["committed"] = summary.committed;
  json["aborted"] = summary.aborted;
  json["statements"] = summary.statements;
  json["understood"] = summary.understood;
  json["reads"] = summary.reads;
  json["gaps"] = Json::array();
  for (const auto& [why, gap] : summary.gaps)
    json["gaps"].push_back({{"why", why}, {"count", gap.count}, {"example", gap.example}});
  json["exit_code"] = summary.exit_code;
  return dump(json);
}

// Prints what became of a run.
int report_run(const RecordArguments& args, const record::RecordSummary& summary,
               const std::string& path) {
  CommonOptions report = args.common;
  report.output = "-";
  return deliver(report, args.common.json ? record_json(summary) : record_text(summary, path),
                 summary.exit_code);
}

int run_record(const RecordArguments& args) {
  end_recording_by_signals();
  record::RecordOptions options;
  if (!args.recovered.empty()) {
    if (!args.command.empty() || args.common.output != "-")
      return fail({.what = "--recover finishes a recording in its own file, and runs no command",
                   .hint = "isoscope record --recover run.jsonl --dsn …"});
    auto server = record::read_connection_string(args.dsn);
    if (!server) return fail(server.error());
    auto summary = record::recover(*server, args.recovered);
    if (!summary) return fail(summary.error());
    return report_run(args, *summary, args.recovered);
  }
  if (args.common.output == "-")
    return fail({.what = "record writes the run into a file", .hint = "say which: -o run.jsonl"});
  auto dsn = record::read_connection_string(args.dsn);
  if (!dsn) return fail(dsn.error());
  options.dsn = std::move(*dsn);
  if (args.tls_certificate.empty() != args.tls_key.empty())
    return fail({.what = "a certificate and its key belong together",
                 .hint = "give both: --tls-cert FILE --tls-key FILE"});
  options.tls_certificate = args.tls_certificate;
  options.tls_key = args.tls_key;
  if (auto listens = read_listen(args.listen, options); !listens) return fail(listens.error());
  if (args.reads == "log") options.reads = record::Reads::Log;
  if (args.reads == "append") options.reads = record::Reads::Append;
  options.output = args.common.output;
  options.command = args.command;
  options.is_interrupted = [] { return recording_interrupted != 0; };
  if (args.common.timeout > 0) options.budget = Budget::seconds(args.common.timeout);
  if (args.command.empty() && !args.common.quiet) {
    options.on_listening = [&](int port) {
      std::fprintf(stderr, "listening on %s:%d; Ctrl-C ends the recording\n",
                   options.listen_host.c_str(), port);
    };
  }
  options.on_trouble = [&](const Error& error) {
    if (!args.common.quiet) std::fprintf(stderr, "%s\n", render(error).c_str());
  };
  options.on_notice = [&](const std::string& text) {
    if (!args.common.quiet) std::fprintf(stderr, "note: %s\n", printable(text).c_str());
  };
  auto summary = record::record(options);
  if (!summary) return fail(summary.error());
  return report_run(args, *summary, options.output);
}

}  // namespace

Run add_record(CLI::App& app) {
  auto args = std::make_shared<RecordArguments>();
  app.add_option("--dsn", args->dsn, "the PostgreSQL server, as libpq reads it: words or a URL")
      ->required()
      ->type_name("DSN");
  app.add_option("--listen", args->listen, "where clients connect; port 0 means any free port")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--reads", args->reads,
                 "how to find out what statements read and wrote: from the server's log, by a "
                 "column that is appended to them and removed again, or by the log if the "
                 "server allows it and else by appending")
      ->check(CLI::IsMember({"auto", "log", "append"}))
      ->capture_default_str();
  add_input_file(app, "--tls-cert", args->tls_certificate,
                 "the certificate (PEM) for clients that ask for TLS; needed to listen beyond "
                 "loopback");
  add_input_file(app, "--tls-key", args->tls_key, "the key of --tls-cert (PEM)");
  add_input_file(
      app, "--recover", args->recovered,
      "finish the recording in this file, after record was killed: what its statements read and "
      "wrote is computed as far as it has the server's log");
  app.add_option("COMMAND", args->command,
                 "what to run, after --; PGHOST, PGPORT and DATABASE_URL point to the recorder. "
                 "Without it, the recording goes on until it is interrupted");
  add_common(app, args->common);
  app.footer(
      "-o names the file of the run, a history in the format jsonl. Exit code: that of COMMAND; 2 "
      "if\n"
      "the recording itself failed.\n"
      "Examples:\n"
      "  isoscope record --dsn \"host=127.0.0.1 dbname=shop\" -o run.jsonl -- make test\n"
      "  isoscope record --dsn postgresql://127.0.0.1/shop -o run.jsonl --listen 127.0.0.1:6432\n"
      "  isoscope record --dsn \"host=db.example dbname=shop\" --reads append -o run.jsonl -- make "
      "test");
  return [args] { return run_record(*args); };
}

}  // namespace isoscope
