// Runs of SQL programs on PostgreSQL as pages: the schedule statement by statement, the dependency
// cycle over it where there is one, and what the serial orders give.
#include <fmt/format.h>

#include <algorithm>

#include "check/check.h"
#include "report/explain.h"
#include "report/plural.h"
#include "report/schedule_scene.h"
#include "report/server_story.h"
#include "report/shown.h"
#include "spec/serializable.h"
#include "sql/run/key_names.h"
#include "sql/server/recorded.h"

namespace isoscope {
namespace {

using sql::server::Choice;
using sql::server::State;

constexpr double kCycleSeconds = 5;
constexpr std::size_t kMostSerialRuns = 12;
constexpr std::size_t kMostOutcomeScenes = 12;

std::string row_key(const sql::Table& table, const sql::TableRow& values) {
  std::string name = table.name + "[";
  for (const sql::Value& value : sql::server::columns_of(values, table.primary_key))
    name += (name.back() == '[' ? "" : ", ") + sql::index_name(value);
  return printable(name + "]");
}

// "balance 100, owner 'ann'"
std::string columns_text(const sql::Table& table, const sql::TableRow& values) {
  std::string out;
  for (const sql::ColumnId c : values.ids()) {
    if (table.columns[c].is_hidden || table.is_key_column(c)) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", table.columns[c].name,
                       sql::print(values[c]));
  }
  return printable(out.empty() ? "is there" : out);
}

// The last version of each row, with a mark where it is not committed yet.
std::vector<KeyState> rows_now(const ServerProgram& on, const State& state) {
  std::vector<KeyState> rows;
  for (const sql::TableId id : changing_tables(on)) {
    const sql::Table& table = on.machine.app().table(id);
    for (const sql::server::StoredRow& row : state.storage.table(id).rows) {
      if (row.versions.empty()) continue;
      const sql::server::Version& last = row.versions.back();
      const auto named = std::ranges::find_if(
          row.versions, [](const sql::server::Version& v) { return !v.is_deleted(); });
      if (named == row.versions.end()) continue;
      const bool is_key = on.machine.is_by_key();
      const sql::TableRow& shown = last.is_deleted() ? *named->values : *last.values;
      KeyState now{.key = is_key ? printable(std::get<std::string>(shown.front().data))
                                 : row_key(table, shown),
                   .value = last.is_deleted() ? "deleted"
                            : is_key          ? sql::print(shown.back())
                                              : columns_text(table, shown),
                   .writer = last.creator == sql::server::kInitialTxn
                                 ? "T0"
                                 : call_text(on, sql::server::call_of(last.creator))};
      if (last.creator != sql::server::kInitialTxn && !state.committed.contains(last.creator))
        now.writer += ", not committed yet";
      const auto same = std::ranges::find(rows, now.key, &KeyState::key);
      if (same == rows.end()) {
        rows.push_back(std::move(now));
      } else {
        *same = std::move(now);  // the key was deleted and is taken again
      }
    }
  }
  return rows;
}

std::string line_words(std::uint32_t line) { return line == 0 ? "" : fmt::format("line {}", line); }

// The statement of `t` that reads or writes the key, as its place in the program.
std::string place_of(const History& h, TxnId t, KeyId key, bool is_read) {
  for (const EventId e : h.events(t)) {
    const bool reads = h.kind(e) == EventKind::Read;
    if (h.key(e) == key && reads == is_read) return line_words(h.place(e).line);
  }
  return "";
}

// The cycle of dependencies over the statements, where the recorded run has one.
void add_cycle(Scene& scene, const ServerProgram& on, const State& state) {
  if (!scene.too_large.empty()) return;
  const auto history = sql::server::to_history(on.machine, state);
  if (!history) return;
  Budget budget = Budget::seconds(kCycleSeconds);
  const CheckAnswer answer = check(*history, serializable_level(), budget);
  if (!answer.verdict.violation) return;
  const Violation& violation = *answer.verdict.violation;
  if (violation.cycle.empty()) return;
  scene.sentence += fmt::format(" {}.", explanation(*history, violation));
  for (const Edge& edge : violation.cycle) {
    if (edge.key == KeyId::none()) continue;
    const std::size_t from =
        box_at(scene, shown(*history, edge.from),
               place_of(*history, edge.from, edge.key, edge.kind == EdgeKind::Rw));
    const std::size_t to = box_at(scene, shown(*history, edge.to),
                                  place_of(*history, edge.to, edge.key, edge.kind == EdgeKind::Wr));
    if (from == kNoIndex || to == kNoIndex) continue;
    scene.edges.push_back({.from = from,
                           .to = to,
                           .kind = edge.kind,
                           .key = shown(*history, edge.key),
                           .why = why(*history, edge),
                           .in_cycle = true});
  }
}

std::string rows_words(const ServerProgram& on, const sql::server::RunEnd& end) {
  std::string out;
  for (const sql::TableId table : changing_tables(on)) {
    for (const auto& row : end.rows[table])
      out += (out.empty() ? "" : "; ") + row_text(on, {table, row});
  }
  return out.empty() ? "no row" : out;
}

std::string calls_words(const ServerProgram& on, const sql::server::RunEnd& end) {
  std::string out;
  for (const CallId call : end.calls.ids()) {
    if (!end.calls[call].is_left_out)
      out += (out.empty() ? "" : "; ") + call_end_text(on, call, end.calls[call]);
  }
  return out;
}

// Calls that the server has aborted count as calls that did not happen.
std::string serial_words(const sql::server::RunEnd& mine, std::optional<bool> is_serial) {
  if (!is_serial)
    return "Whether a serial order ends like this run is not decided: values that the server makes "
           "anew differ from run to run.";
  return fmt::format("{} serial order of the calls{} ends like this run.",
                     *is_serial ? "Some" : "No",
                     mine.has_server_abort() ? " that the server did not abort" : "");
}

PageTable serial_table(const ServerProgram& on, const State& state) {
  const sql::server::RunEnd mine = sql::server::end_of(on.machine, state);
  const Budget budget = Budget::seconds(kCycleSeconds);
  const auto serial = sql::server::serial_runs(on.machine, mine, budget);
  if (!serial || serial->empty()) return {};
  const auto is_serial = sql::server::SerialEnds(on.machine, budget).contains(mine);
  PageTable table{.title = serial_words(mine, is_serial),
                  .columns = {"order", "calls", "rows in the end"},
                  .rows = {}};
  table.rows.push_back({{"this run"}, {calls_words(on, mine)}, {rows_words(on, mine)}});
  for (const sql::server::SerialRun& run : *serial) {
    if (table.rows.size() > kMostSerialRuns) {
      table.title +=
          fmt::format(" There are {} different ends; the first ones are shown.", serial->size());
      break;
    }
    std::string order;
    for (const CallId call : run.order)
      order += (order.empty() ? "" : ", then ") + call_text(on, call);
    if (is_serial && digest_of(run.end) == digest_of(mine)) order += " (ends like this run)";
    table.rows.push_back({{order}, {calls_words(on, run.end)}, {rows_words(on, run.end)}});
  }
  return table;
}

Scene server_scene(const ServerProgram& on, const std::vector<Choice>& schedule,
                   const std::vector<sql::server::BrokenClaim>& broken, std::string title) {
  PlayedRun run{.title = std::move(title)};
  const Outline& outline = on.machine.outline();
  for (const auto& session : outline.sessions) run.lanes.push_back(printable(session.name));
  State last = on.machine.start();
  std::vector<KeyState> rows = rows_now(on, last);
  run.start = rows;
  std::vector<std::vector<KeyState>> changes;
  const auto story = story_of(on, schedule, schedule.size(), [&](const State& state) {
    std::vector<KeyState> after = rows_now(on, state);
    changes.push_back(changed_rows(rows, after));
    rows = std::move(after);
    last = state;
  });
  for (std::size_t i = 0; i < story.size(); ++i) {
    const StoryStep& step = story[i];
    const Call& call = outline.calls[step.call];
    run.steps.push_back({.kind = step.kind,
                         .lane = call.session.index,
                         .txn = call_text(on, step.call),
                         .call = printable(call.name),
                         .sql = printable(step.statement),
                         .where = line_words(step.line),
                         .result = printable(step.result),
                         .changed = std::move(changes[i])});
  }
  Scene scene = schedule_scene(std::move(run));
  for (const auto& claim : broken) {
    const sql::RowAssertion& claimed = on.claims[claim.claim];
    std::string note =
        fmt::format("Fails after step {}: {} {}  ({}:{})", claim.step,
                    claimed.is_invariant ? "invariant" : "assert", printable(claimed.text),
                    printable(on.source), claimed.place.line);
    if (!claim.answer.error.empty()) note += "  " + printable(claim.answer.error);
    for (const auto& row : claim.answer.rows) note += "  " + row_text(on, row);
    scene.notes.push_back(std::move(note));
  }
  if (!broken.empty()) scene.sentence = "An assertion fails in this run.";
  add_cycle(scene, on, last);
  scene.serial = serial_table(on, last);
  return scene;
}

void add_gaps(Page& page, const ServerProgram& on) {
  for (const sql::Note& gap : on.gaps)
    page.notes.push_back(fmt::format("Not modelled: {}:{}: {}", printable(on.source),
                                     gap.where.line, printable(gap.what)));
}

void add_outcomes(Page& page, const ServerExploreReport& report) {
  PageTable table{.title = fmt::format("Outcomes at {}", report.on.level),
                  .columns = {"calls", "rows in the end", "histories", "a serial order",
                              "assertions", "an example"},
                  .rows = {}};
  for (const sql::server::RunOutcome& outcome : report.all.outcomes) {
    const bool is_drawn = table.rows.size() < kMostOutcomeScenes;
    table.rows.push_back(
        {{calls_words(report.on, outcome.end)},
         {rows_words(report.on, outcome.end)},
         {std::to_string(outcome.histories)},
         {!outcome.is_serial   ? "not decided"
          : *outcome.is_serial ? "ends so"
                               : "none ends so"},
         {outcome.broken.empty() ? "hold" : "one fails"},
         {is_drawn ? "its schedule" : "", is_drawn ? page.scenes.size() : kNoIndex}});
    if (is_drawn)
      page.scenes.push_back(server_scene(report.on, outcome.schedule, {},
                                         fmt::format("a run of outcome {}", table.rows.size())));
  }
  page.tables.push_back(std::move(table));
}

}  // namespace

Page server_explore_page(const ServerExploreReport& report) {
  const auto& all = report.all;
  Page page = page_of(header_of(report), report.on.source);
  page.sentence = fmt::format(
      "{} at {}: {}, {}", printable(report.on.source), report.on.level,
      plural(all.histories, "history", "histories"),
      all.violating > 0 ? plural(all.violating, "violates an assertion", "violate an assertion")
                        : "no assertion fails");
  if (all.is_out_of_time) page.notes.emplace_back("A limit was reached: there may be more.");
  if (report.stopped_early) page.notes.emplace_back("Stopped at the first violation.");
  add_gaps(page, report.on);
  for (std::size_t i = 0; i < all.violations.size(); ++i)
    page.scenes.push_back(server_scene(report.on, all.violations[i].schedule,
                                       all.violations[i].broken,
                                       fmt::format("violating run {}", i + 1)));
  if (report.wants_outcomes) add_outcomes(page, report);
  return page;
}

Page server_run_page(const ServerRunReport& report) {
  const ServerRuns& runs = report.runs;
  Page page = page_of(header_of(report), report.on.source);
  page.sentence =
      fmt::format("{} at {}: of {}, {} failed an assertion and {} ended as no serial order does",
                  printable(report.on.source), report.on.level, plural(runs.runs, "run", "runs"),
                  runs.failed, runs.unserializable);
  if (runs.is_expired) page.notes.emplace_back("A limit was reached before all runs were made.");
  if (runs.undecided > 0)
    page.notes.push_back(fmt::format("It is unknown of {} whether a serial order ends like that.",
                                     plural(runs.undecided, "run", "runs")));
  add_gaps(page, report.on);
  if (runs.shown)
    page.scenes.push_back(server_scene(report.on, runs.shown->schedule, runs.shown->broken,
                                       fmt::format("the run of seed {}", runs.shown_seed)));
  return page;
}

}  // namespace isoscope
