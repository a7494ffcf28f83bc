// isoscope convert HISTORY --to FORMAT
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/command.h"
#include "cli/document.h"
#include "cli/history_input.h"

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
  const Budget budget = args.common.start();
  RunNotes notes;
  auto history = args.history.read(progress_line(args.common), budget, Ambiguity::Refuse, &notes);
  if (!history) return fail(history.error());
  auto document = Document::open(args.common);
  if (!document) return fail(document.error());
  if (auto written = write_history(*history, *format, document->sink(), budget); !written)
    return fail(written.error());
  Json json = json_header(header_of("convert", {.outcome = Outcome::Ok}, seconds_running()));
  json["format"] = name_of(*format);
  json["transactions"] = history->num_txns() - 1;
  json["events"] = history->num_events();
  return document->finish(std::move(json), "history");
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
      "  isoscope convert examples/lost-update.hist --to jsonl\n"
      "  isoscope convert examples/long-fork.hist --to elle -o run.edn\n"
      "  isoscope convert run.edn --to isopredict");
  return [args] { return run_convert(*args); };
}

}  // namespace isoscope
