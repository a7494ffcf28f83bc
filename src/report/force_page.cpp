// Orders of steps that were played on a server, as a page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/force_parts.h"
#include "report/force_report.h"
#include "report/plural.h"
#include "report/schedule_scene.h"
#include "support/printable.h"
#include "support/shorten.h"

namespace isoscope {
namespace {

using force::Forced;
using force::ForceVerdict;

constexpr std::size_t kMostForcedScenes = 6;
constexpr std::size_t kMostForcedRows = 200;
constexpr std::size_t kMostSerialOrders = 12;
constexpr std::size_t kLongestAnswer = 60;

bool is_word(std::string_view sql, std::string_view word) {
  const std::size_t start = sql.find_first_not_of(" \n\t");
  if (start == std::string_view::npos || sql.size() < start + word.size()) return false;
  return std::ranges::equal(sql.substr(start, word.size()), word, [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == b;
  });
}

PlayedStep::Kind kind_of(const force::Answer& answer, const std::string& sql, bool had_waited) {
  if (answer.has_failed()) return PlayedStep::Kind::Abort;
  if (is_word(sql, "ROLLBACK") || is_word(sql, "ABORT") || answer.tag == "ROLLBACK")
    return PlayedStep::Kind::Abort;
  return had_waited ? PlayedStep::Kind::GoesOn : PlayedStep::Kind::Statement;
}

std::vector<PlayedStep> steps_of(const force::Spec& spec, const force::Run& run) {
  std::vector<PlayedStep> steps;
  ById<force::ActorId, bool> waits(spec.sessions.size(), false);
  for (const force::Moment& m : run.played.moments) {
    const force::SpecStep* sent = step_of(spec.sessions[m.actor], m.statement);
    if (sent == nullptr) continue;
    const force::SpecStep& said = *sent;
    PlayedStep step{.lane = m.actor.index,
                    .txn = printable(said.name),
                    .sql = printable(said.sql),
                    .where = said.place.line == 0 ? "" : fmt::format("line {}", said.place.line)};
    if (m.kind == force::Moment::Kind::Parked) {
      step.kind = PlayedStep::Kind::Waits;
      std::vector<std::string> holders;
      for (const force::ActorId h : m.holders) holders.push_back(printable(spec.sessions[h].name));
      if (!holders.empty()) step.result = fmt::format("for {}", fmt::join(holders, ", "));
      waits[m.actor] = true;
    } else if (m.kind == force::Moment::Kind::Answered) {
      const force::Answer& answer = run.answers[m.actor][m.statement];
      step.kind = kind_of(answer, said.sql, waits[m.actor]);
      // COMMIT answers COMMIT, which says nothing.
      if (!is_word(said.sql, answer.tag) || answer.has_failed() || answer.tag.empty())
        step.result = shortened(shown_answer(answer), kLongestAnswer);
      waits[m.actor] = false;
    } else {
      continue;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string tables_words(const force::Run& run) {
  std::vector<std::string> tables;
  for (const auto& [name, table] : run.tables)
    tables.push_back(fmt::format("{} holds {}", printable(name), shown_rows(table)));
  return fmt::format("{}", fmt::join(tables, "; "));
}

std::string serial_words(const force::Judgement& judgement) {
  switch (judgement.kind) {
    case force::Judgement::Kind::Unserializable:
      return "The server itself played the serial orders: none of them gives what this run gave.";
    case force::Judgement::Kind::Serializable:
      return "The server itself played the serial orders: one of them gives what this run gave.";
    case force::Judgement::Kind::Unknown: break;
  }
  return fmt::format(
      "The server itself played these serial orders. Whether one gives what this run gave is not "
      "known: {}.",
      printable(judgement.why));
}

PageTable serial_table(const force::Spec& spec, const Forced& forced) {
  if (forced.judgement.serial == nullptr) return {};
  PageTable table{.title = serial_words(forced.judgement),
                  .columns = {"order", "what differs from this run"},
                  .rows = {}};
  for (const force::SerialRun& serial : *forced.judgement.serial) {
    if (table.rows.size() == kMostSerialOrders) {
      table.rows.push_back(
          {{fmt::format("and {} more", forced.judgement.serial->size() - kMostSerialOrders)},
           {""}});
      break;
    }
    const std::string difference = serial_difference(spec, forced.run, serial);
    table.rows.push_back({{printable(serial_name(spec, serial))},
                          {difference.empty() ? "nothing" : printable(difference)}});
  }
  return table;
}

std::string end_words(const Forced& forced) {
  switch (forced.verdict) {
    case ForceVerdict::Reproduced:
      if (!forced.is_judged_by_history || !forced.run.recorded.violation)
        return "No serial order of the transactions gives what this run gave.";
      return recorded_sentence(forced.run.recorded);
    case ForceVerdict::Prevented: return fmt::format("Prevented: {}.", prevented_by(forced));
    case ForceVerdict::Diverged:
    case ForceVerdict::Unknown: break;
  }
  return fmt::format("{}: {}.", force::name_of(forced.verdict), printable(forced.why));
}

Scene forced_scene(const force::Spec& spec, const Forced& forced) {
  PlayedRun run{.title = printable(steps_text(spec, forced.permutation)),
                .sentence = end_words(forced)};
  for (const force::SpecSession& session : spec.sessions)
    run.lanes.push_back(printable(session.name));
  run.steps = steps_of(spec, forced.run);
  Scene scene = schedule_scene(std::move(run));
  scene.spans.clear();  // a box is named by its step, and a session may hold several transactions
  if (!forced.run.tables.empty())
    scene.notes.push_back(fmt::format("In the end {}.", tables_words(forced.run)));
  scene.serial = serial_table(spec, forced);
  return scene;
}

// What went wrong first, then what was prevented.
std::vector<const Forced*> by_interest(const force::ForceAnswer& answer) {
  std::vector<const Forced*> all;
  for (const Forced& forced : answer.forced) all.push_back(&forced);
  std::ranges::stable_sort(all, {}, [](const Forced* f) { return static_cast<int>(f->verdict); });
  return all;
}

}  // namespace

Page force_page(const ForceReport& report) {
  const force::ForceAnswer& answer = report.answer;
  Page page = page_of(force_header(answer.verdict, answer.limit, report.seconds), report.source);
  const auto count = std::ranges::count(answer.forced, answer.verdict, &Forced::verdict);
  page.sentence =
      fmt::format("{}: {} in {} of {}", printable(report.source), force::name_of(answer.verdict),
                  count, plural(answer.forced.size(), "order of steps", "orders of steps"));
  if (!answer.limit.empty()) page.notes.push_back(printable(answer.limit));
  PageTable table{.title = "Orders of steps",
                  .columns = {"steps", "verdict", "runs that reproduce it", "why"},
                  .rows = {}};
  for (const Forced* forced : by_interest(answer)) {
    if (table.rows.size() == kMostForcedRows) {
      table.rows.push_back(
          {{fmt::format("and {} more", answer.forced.size() - kMostForcedRows)}, {""}, {""}, {""}});
      break;
    }
    const bool is_drawn = page.scenes.size() < kMostForcedScenes;
    table.rows.push_back({{printable(steps_text(report.spec, forced->permutation)),
                           is_drawn ? page.scenes.size() : kNoIndex},
                          {std::string(force::name_of(forced->verdict))},
                          {fmt::format("{} of {}", forced->reproduced, forced->runs)},
                          {forced->verdict == ForceVerdict::Prevented ? prevented_by(*forced)
                                                                      : printable(forced->why)}});
    if (is_drawn) page.scenes.push_back(forced_scene(report.spec, *forced));
  }
  page.tables.push_back(std::move(table));
  return page;
}

}  // namespace isoscope
