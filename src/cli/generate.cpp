// isoscope generate history …; generate program is in generate_program.cpp
#include "generate/generate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/command.h"
#include "cli/document.h"
#include "cli/generate_program.h"
#include "cli/values.h"
#include "formats/formats.h"
#include "generate/injection.h"
#include "spec/levels.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

struct GenerateArguments {
  CommonOptions common;
  HistoryPlan plan;
  std::string level = "ser";
  std::string distribution = "uniform";
  std::string shape = "mixed";
  std::string to = "jsonl";
};

// The enumerator with this name; the names are what --help lists.
template <class Enum, std::size_t N>
Result<Enum> by_name(const std::array<Enum, N>& all, std::string_view name, std::string_view what) {
  std::vector<std::string_view> names;
  for (Enum value : all) {
    if (name_of(value) == name) return value;
    names.push_back(name_of(value));
  }
  return Error{.what = fmt::format("unknown {} '{}'", what, name), .hint = suggest(name, names)};
}

template <class Enum, std::size_t N>
std::string names_of(const std::array<Enum, N>& all) {
  std::string out;
  for (Enum value : all) out += (out.empty() ? "" : ", ") + std::string(name_of(value));
  return out;
}

std::string injection_names() {
  std::string out;
  for (const Injection& injection : injections())
    out += (out.empty() ? "" : ", ") + std::string(injection.name);
  return out;
}

// Writes transaction by transaction where the format allows, so that memory stays small.
Result<GeneratedSizes> stream(const HistoryPlan& plan, Format format, const Sink& out,
                              Budget budget, const Progress& progress) {
  if (!can_stream(format)) {
    auto history = generate_history(plan, budget);
    if (!history) return history.error();
    if (auto written = write_history(*history, format, out, budget); !written)
      return written.error();
    return GeneratedSizes{
        .committed = history->num_txns() - 1, .aborted = 0, .events = history->num_events()};
  }
  constexpr std::size_t kFlushAt = std::size_t{1} << 16U;
  std::string text = std::string(stream_header(format));
  auto sizes = generate_txns(
      plan,
      [&](const PlainTxn& txn) {
        append_txn(txn, format, text);
        if (text.size() < kFlushAt) return;
        out(text);
        text.clear();
        if (progress)
          progress("generating transactions",
                   static_cast<double>(txn.number) / static_cast<double>(plan.txns));
      },
      budget);
  out(text);
  return sizes;
}

int run_generate(GenerateArguments& args) {
  const auto known = LevelSet::built_in().find(args.level);  // by an alias, too
  auto level = by_name(kStoreLevels, known ? (*known)->name : args.level, "level of a store");
  if (!level) return fail(level.error());
  auto distribution = by_name(kKeyDistributions, args.distribution, "distribution");
  if (!distribution) return fail(distribution.error());
  auto shape = by_name(kTxnShapes, args.shape, "shape");
  if (!shape) return fail(shape.error());
  auto format = find_format(args.to);
  if (!format) return fail(format.error());
  args.plan.level = *level;
  args.plan.distribution = *distribution;
  args.plan.shape = *shape;
  if (auto valid = validate(args.plan); !valid) return fail(valid.error());
  auto document = Document::open(args.common);
  if (!document) return fail(document.error());
  auto sizes =
      stream(args.plan, *format, document->sink(), args.common.start(), progress_line(args.common));
  clear_progress_line();
  if (!sizes) return fail(sizes.error());
  if (!sizes->complete) return document->give_up("generate", limit_reached());
  Json json = json_header(header_of("generate", {.outcome = Outcome::Ok}, seconds_running()));
  json["transactions"] = sizes->committed;
  json["aborted"] = sizes->aborted;
  json["events"] = sizes->events;
  return document->finish(std::move(json), "history");
}

}  // namespace

Run add_generate(CLI::App& app) {
  auto args = std::make_shared<GenerateArguments>();
  app.require_subcommand(1);
  CLI::App& history = *app.add_subcommand("history", "a history, by simulating a store at a level");
  HistoryPlan& plan = args->plan;
  const auto count = [&](const char* name, auto& value, std::int64_t most, const char* help) {
    history.add_option(name, value, help)
        ->type_name("N")
        ->check(whole_number(1, most))
        ->capture_default_str();
  };
  const auto real = [&](const char* name, double& value, double least, double most,
                        const char* help) {
    history.add_option(name, value, help)
        ->type_name("X")
        ->check(real_number(least, most))
        ->capture_default_str();
  };
  const auto word = [&](const char* name, std::string& value, const std::string& help) {
    history.add_option(name, value, help)->type_name("NAME")->capture_default_str();
  };
  word("-l,--level", args->level, "what the store guarantees: " + names_of(kStoreLevels));
  count("-s,--sessions", plan.sessions, 1'000'000, "sessions");
  count("-t,--txns", plan.txns, 100 * kMostOfAnything, "committed transactions");
  count("--ops", plan.ops, 1'000'000, "operations per transaction");
  history.add_flag("--vary", plan.vary, "vary the sizes of transactions around --ops");
  count("-k,--keys", plan.keys, 4 * kMostOfAnything, "keys");
  real("-r,--reads", plan.read_share, 0, 1, "share of reads, 0 to 1");
  word("--dist", args->distribution, "how keys are drawn: " + names_of(kKeyDistributions));
  real("--theta", plan.theta, 0, 10, "skew of zipf");
  word("--shape", args->shape, "what transactions look like: " + names_of(kTxnShapes));
  count("--replicas", plan.replicas, 1'000, "replicas of a psi, cc or ra store");
  real("--lag", plan.lag, 1, 100'000, "mean transactions between two deliveries at a replica");
  history.add_flag("--log-aborted", plan.log_aborted, "keep aborted transactions in the history");
  history.add_option("--inject", plan.inject, "hide an anomaly in it: " + injection_names())
      ->type_name("NAME");
  real("--inject-at", plan.inject_at, 0, 1, "where, as a share of the run");
  history.add_option("--seed", plan.seed, "same seed, same bytes")
      ->type_name("N")
      ->check(whole_number(0, kLargestSeed))
      ->capture_default_str();
  word("--to", args->to, "format of the history");
  add_common(history, args->common);
  history.footer(
      "Examples:\n"
      "  isoscope generate history --level si --txns 10 --keys 4 --to hist\n"
      "  isoscope generate history --level si --txns 1000 --keys 50 --dist zipf -o h.jsonl\n"
      "  isoscope generate history --txns 200 --inject lost-update | isoscope check - --level si\n"
      "  isoscope generate history --level cc --txns 1000000 --to plume -o big.txt");
  CLI::App& program = *app.add_subcommand("program", "a benchmark as a transactional program");
  const Run run_program = add_generate_program(program);
  app.footer(
      "Examples:\n"
      "  isoscope generate history --level si --txns 10 --keys 4 --to hist\n"
      "  isoscope generate program smallbank -o bank.txn");
  return [args, run_program, &program] {
    return program.parsed() ? run_program() : run_generate(*args);
  };
}

}  // namespace isoscope
