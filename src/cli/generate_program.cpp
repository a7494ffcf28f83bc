#include "cli/generate_program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/document.h"
#include "cli/values.h"
#include "workload/workload.h"

namespace isoscope {

namespace {

struct ProgramArguments {
  CommonOptions common;
  WorkloadPlan plan = {.workload = {}};
  std::string access = "default";
};

std::string workload_list() {
  std::string out;
  for (const WorkloadInfo& info : workloads())
    out += fmt::format("{}{}", out.empty() ? "" : ", ", info.name);
  return out;
}

// Every size that some workload has, and what it is for which.
std::map<std::string, std::string> helps_by_size() {
  std::map<std::string, std::string> helps;
  for (const WorkloadInfo& info : workloads()) {
    for (const TableSize& size : info.sizes) {
      std::string& help = helps[std::string(size.name)];
      help += fmt::format("{}{}: {} [{}]", help.empty() ? "" : "; ", info.name, size.help,
                          size.initially);
    }
  }
  return helps;
}

std::string workload_help() {
  std::string out = "Workloads:\n";
  for (const WorkloadInfo& info : workloads()) {
    out += fmt::format("  {:<14} {}; access {}\n", info.name, info.summary,
                       info.access == RowAccess::Scan ? "scan" : "point");
  }
  return out;
}

int run_generate_program(ProgramArguments& args) {
  if (args.access == "scan") args.plan.access = RowAccess::Scan;
  if (args.access == "point") args.plan.access = RowAccess::Point;
  const auto text = generate_program(args.plan);
  if (!text) return fail(text.error());
  auto document = Document::open(args.common);
  if (!document) return fail(document.error());
  document->sink()(*text);
  Json json = json_header(header_of("generate", {.outcome = Outcome::Ok}, seconds_running()));
  json["workload"] = args.plan.workload;
  json["sessions"] = args.plan.sessions;
  json["transactions"] = args.plan.sessions * args.plan.txns;
  return document->finish(std::move(json), "program");
}

}  // namespace

Run add_generate_program(CLI::App& app) {
  auto args = std::make_shared<ProgramArguments>();
  WorkloadPlan& plan = args->plan;
  app.add_option("workload", plan.workload, workload_list())->type_name("WORKLOAD")->required();
  const auto count = [&](const char* name, auto& value, std::int64_t least, std::int64_t most,
                         const char* help) {
    app.add_option(name, value, help)
        ->type_name("N")
        ->check(whole_number(least, most))
        ->capture_default_str();
  };
  count("-s,--sessions", plan.sessions, 1, kMaxWorkloadCalls, "sessions");
  count("-t,--txns", plan.txns, 1, kMaxWorkloadCalls, "transactions per session");
  count("--seed", plan.seed, 0, kLargestSeed,
        "same seed, same bytes; smaller programs are prefixes of larger");
  app.add_option("--access", args->access,
                 "how a statement finds a row: scan (reads the whole table) or point")
      ->type_name("HOW")
      ->check(one_of({"default", "scan", "point"}))
      ->capture_default_str();
  app.add_flag("--audit", plan.audit, "smallbank: one more session adds up all accounts");
  for (const auto& [name, help] : helps_by_size()) {
    const std::string& size = name;
    app.add_option_function<std::int64_t>(
           "--" + size, [args, size](const std::int64_t& value) { args->plan.sizes[size] = value; },
           help)
        ->type_name("N")
        ->check(whole_number(0, kMostOfAnything))
        ->group("Table sizes");
  }
  add_common(app, args->common);
  app.footer(workload_help() +
             "\nExamples:\n"
             "  isoscope generate program voter --sessions 2 --txns 1 --access point\n"
             "  isoscope generate program smallbank -o bank.txn\n"
             "  isoscope generate program tpcc --sessions 3 --txns 8 --seed 2 --districts 1\n"
             "  isoscope generate program courseware --access scan --capacity 2");
  return [args] { return run_generate_program(*args); };
}

}  // namespace isoscope
