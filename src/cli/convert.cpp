// isoscope convert HISTORY --to FORMAT
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/history_input.h"
#include "report/json.h"
#include "support/output.h"

namespace isoscope {

namespace {

struct ConvertArguments {
  CommonOptions common;
  HistoryInput history;
  std::string to;
};

int run_convert(const ConvertArguments& args) {
  auto format = find_format(args.to);
  if (!format) return fail(format.error());
  if (args.common.json && args.common.output == "-")
    return fail({.what = "--json needs -o FILE for the history itself"});
  const Budget budget = args.common.start();
  auto history = args.history.read(progress_line(args.common), budget);
  if (!history) return fail(history.error());
  auto output = Output::open(args.common.output);
  if (!output) return fail(output.error());
  if (auto written = write_history(*history, *format, output->sink(), budget); !written)
    return fail(written.error());
  if (auto closed = output->close(); !closed) return fail(closed.error());
  if (!args.common.json) return kGood;
  Json json = json_header("convert", "ok", 0);
  json["format"] = name_of(*format);
  json["transactions"] = history->num_txns() - 1;
  json["events"] = history->num_events();
  CommonOptions to_terminal = args.common;
  to_terminal.output = "-";
  return deliver(to_terminal, dump(json), kGood);
}

}  // namespace

Run add_convert(CLI::App& app) {
  auto args = std::make_shared<ConvertArguments>();
  args->history.add_to(app);
  app.add_option("--to", args->to, "the format to write")->required()->type_name("FORMAT");
  add_common(app, args->common);
  app.footer(
      "Formats: hist, jsonl, plume, awdit-test, dbcop, elle, isopredict (dbcop-bincode and cobra "
      "are\n"
      "read only). A history that a format cannot hold is refused, never cut.\n"
      "Examples:\n"
      "  isoscope convert run.bincode --to hist\n"
      "  isoscope convert run.edn --to jsonl -o run.jsonl");
  return [args] { return run_convert(*args); };
}

}  // namespace isoscope
