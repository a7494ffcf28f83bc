// Races of a recorded run as a page: the schedule of each, statement by statement, with the cycle
// over it, and what keeps the other pairs safe.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "formats/formats.h"
#include "report/explain.h"
#include "report/header.h"
#include "report/plural.h"
#include "report/races_report.h"
#include "report/races_words.h"
#include "report/schedule_scene.h"
#include "report/shown.h"
#include "support/shorten.h"

namespace isoscope {
namespace {

using races::Dependency;
using races::KeyKind;
using races::Race;
using races::Run;
using races::RunTxn;
using races::SafePair;
using races::Statement;
using races::Step;
using races::Txn;

constexpr std::size_t kMostRaceScenes = 12;
constexpr std::size_t kMostRows = 200;
constexpr std::size_t kMostShownReads = 3;
constexpr std::size_t kLongestValue = 40;

// One race, laid out for the player.
class RaceScene {
 public:
  RaceScene(const RacesReport& report, const Race& race)
      : report_(report), run_(report.run), race_(race) {
    for (const TxnId t : race.history.txns()) {
      const RunTxn observed = race.observed[t.index];
      if (observed == race.first) ids_[0] = t;
      if (observed == race.second) ids_[1] = t;
    }
  }

  Scene make(std::size_t number) const {
    const Violation& violation = *race_.unserializable.verdict.violation;
    PlayedRun played{.title = fmt::format("race {}: {} on {}", number,
                                          common_name(violation.anomaly), objects()),
                     .sentence = explanation(race_.history, violation),
                     .lanes = {printable(race_session(report_, race_.first)),
                               printable(race_session(report_, race_.second))},
                     .start = start()};
    for (const Step& step : race_.interleaving.steps) played.steps.push_back(played_step(step));
    Scene scene = schedule_scene(std::move(played));
    scene.time = "the order of statements in which they race";
    for (const Dependency* edge : {&race_.interleaving.forth, &race_.interleaving.back})
      add_edge(scene, *edge);
    add_notes(scene);
    scene.serial = recorded();
    const auto copied = write_history(race_.history, Format::Jsonl,
                                      [&](std::string_view piece) { scene.history += piece; });
    if (!copied) scene.history.clear();
    return scene;
  }

  std::string objects() const { return printable(race_objects(run_, race_)); }

 private:
  bool is_second(RunTxn t) const { return t == race_.second; }

  // What a transaction of the pair leaves in the key; the history knows where that is not known.
  std::string written(RunTxn t, KeyId key) const {
    const History& h = race_.history;
    std::string value = "?";
    for (const EventId e : h.events(ids_[is_second(t) ? 1 : 0])) {
      if (h.is_write(e) && h.name(h.key(e)) == run_.keys[key].name) value = shown(h, h.value(e));
    }
    return shortened(value, kLongestValue);
  }
  std::string value_of(KeyId key, RunTxn writer) const {
    if (writer == race_.first || writer == race_.second) return written(writer, key);
    const std::string& value = run_.value(key, writer);
    return value.empty() ? "nil" : printable(shortened(value, kLongestValue));
  }
  RunTxn read_from(const Step& step, std::size_t read) const {
    return race_.interleaving.reads.at(step.txn)[step.statement][read];
  }
  // That a row is there says little beside its columns.
  bool is_shown(const Statement& statement, KeyId key) const {
    if (run_.keys[key].kind != KeyKind::Row) return true;
    return std::ranges::none_of(statement.reads, [&](const races::Read& other) {
      return run_.keys[other.key].kind != KeyKind::Row &&
             run_.keys[other.key].row == run_.keys[key].row;
    });
  }

  std::vector<KeyState> start() const {
    std::vector<KeyState> keys;
    std::set<KeyId> met;
    for (const Step& step : race_.interleaving.steps) {
      const Txn& txn = run_.txns[step.txn];
      if (step.statement == txn.statements.size()) continue;
      const Statement& statement = txn.statements[step.statement];
      for (std::size_t i = 0; i < statement.reads.size(); ++i) {
        const KeyId key = statement.reads[i].key;
        const RunTxn writer = read_from(step, i);
        if (writer == race_.first || writer == race_.second || !is_shown(statement, key)) continue;
        if (met.insert(key).second)
          keys.push_back({printable(run_.keys[key].name), value_of(key, writer),
                          printable(run_.txns[writer].name)});
      }
    }
    return keys;
  }

  std::string read_text(KeyId key, RunTxn writer) const {
    const std::string& name = run_.keys[key].name;
    const std::string from = printable(run_.txns[writer].name);
    const std::string value = value_of(key, writer);
    if (run_.keys[key].kind == KeyKind::Cell)
      return fmt::format("{} = {} from {}", printable(column_of_key(name)), value, from);
    const std::string row = printable(name.substr(0, name.find('{')));
    return value == "nil" ? fmt::format("no {}", row) : fmt::format("{} from {}", row, from);
  }

  std::string reads_text(const Step& step, const Statement& statement) const {
    std::vector<std::string> reads;
    for (std::size_t i = 0; i < statement.reads.size(); ++i) {
      const KeyId key = statement.reads[i].key;
      if (!is_shown(statement, key)) continue;
      if (reads.size() == kMostShownReads) {
        reads.emplace_back("…");
        break;
      }
      reads.push_back(read_text(key, read_from(step, i)));
    }
    return fmt::format("{}", fmt::join(reads, ", "));
  }

  PlayedStep played_step(const Step& step) const {
    const Txn& txn = run_.txns[step.txn];
    PlayedStep played{.lane = is_second(step.txn) ? 1U : 0U,
                      .txn = printable(txn.name),
                      .call = printable(fmt::format("{}, {}", txn.name, txn.isolation))};
    if (step.statement == txn.statements.size()) {
      played.kind = PlayedStep::Kind::Commit;
      std::set<KeyId> keys;
      for (const Statement& statement : txn.statements)
        for (const races::Write& write : statement.writes) keys.insert(write.key);
      for (const KeyId key : keys)
        played.changed.push_back(
            {printable(run_.keys[key].name), written(step.txn, key), printable(txn.name)});
      return played;
    }
    const Statement& statement = txn.statements[step.statement];
    played.sql = printable(statement.sql.empty() ? statement.shape : statement.sql);
    played.where = printable(statement.place);
    played.result = reads_text(step, statement);
    return played;
  }

  std::size_t box_of(RunTxn t, std::size_t statement) const {
    const auto& steps = race_.interleaving.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].txn == t && steps[i].statement == statement) return i + 1;
    }
    return kNoIndex;
  }

  void add_edge(Scene& scene, const Dependency& edge) const {
    const std::size_t from = box_of(edge.from, edge.from_statement);
    const std::size_t to = box_of(edge.to, edge.to_statement);
    if (from >= scene.boxes.size() || to >= scene.boxes.size()) return;  // too large to draw
    scene.edges.push_back({.from = from,
                           .to = to,
                           .kind = edge_of(edge.kind),
                           .key = printable(run_.keys[edge.key].name),
                           .why = printable(why_of_race_edge(run_, edge)),
                           .in_cycle = true});
  }

  void add_notes(Scene& scene) const {
    if (race_.pairs > 1)
      scene.notes.push_back(
          fmt::format("{} pairs of transactions of the recording show it.", race_.pairs));
    for (const std::string& assumed : race_.assumes)
      scene.notes.push_back(fmt::format("Assumes: {}.", printable(assumed)));
  }

  // The recording is a serial order.
  PageTable recorded() const {
    PageTable table{.title = "In the recording one came after the other:",
                    .columns = {"statement", "reads", "in this run from", "in the recording from"}};
    for (const races::ChangedVersion& c : race_.interleaving.changed)
      table.rows.push_back(
          {{fmt::format("{}.{}", printable(run_.txns[c.txn].name), c.statement + 1)},
           {printable(run_.keys[c.key].name)},
           {printable(run_.txns[c.predicted].name)},
           {printable(run_.txns[c.observed].name)}});
    return table.rows.empty() ? PageTable{} : table;
  }

  const RacesReport& report_;
  const Run& run_;
  const Race& race_;
  TxnId ids_[2] = {kInitialTxn, kInitialTxn};  // of the pair, in the predicted history
};

std::string statements_of(const Run& run, RunTxn t) {
  return fmt::format("{}: {}", printable(run.txns[t].name), race_shapes(run, t));
}

PageTable safe_table(const RacesReport& report) {
  const Run& run = report.run;
  PageTable table{.title = "Pairs without a race", .columns = {"transactions", "answer", "why"}};
  for (const SafePair& safe : report.answer.safe) {
    if (table.rows.size() == kMostRows) {
      table.rows.push_back(
          {{fmt::format("and {} more", report.answer.safe.size() - kMostRows)}, {""}, {""}});
      break;
    }
    table.rows.push_back(
        {{fmt::format("{} / {}", statements_of(run, safe.first), statements_of(run, safe.second))},
         {safe.is_decided ? "safe" : "undecided"},
         {printable(fmt::format("{}", fmt::join(safe.why, "; ")))}});
  }
  return table;
}

}  // namespace

Page races_page(const RacesReport& report) {
  const races::RaceAnswer& answer = report.answer;
  Page page = page_of(header_of("predict", report.answer, report.seconds), report.source);
  page.sentence =
      !answer.races.empty()
          ? fmt::format("{} of recorded transactions can go wrong at {} when they overlap",
                        plural(answer.races.size(), "kind of pair", "kinds of pairs"),
                        printable(report.level))
      : answer.limit.empty()
          ? fmt::format("No two recorded transactions, begun where the run had them, race at {}",
                        report.level)
          : fmt::format("Unknown: no race was found, but {}", answer.limit);
  PageTable table{.title = "Races", .columns = {"race", "of", "pairs that show it"}};
  for (std::size_t i = 0; i < answer.races.size(); ++i) {
    const Race& race = answer.races[i];
    const RaceScene scene(report, race);
    const bool is_drawn = page.scenes.size() < kMostRaceScenes;
    table.rows.push_back(
        {{fmt::format("{} on {}", common_name(race.unserializable.verdict.violation->anomaly),
                      scene.objects()),
          is_drawn ? page.scenes.size() : kNoIndex},
         {fmt::format("{} / {}", statements_of(report.run, race.first),
                      statements_of(report.run, race.second))},
         {std::to_string(race.pairs)}});
    if (is_drawn) page.scenes.push_back(scene.make(i + 1));
  }
  if (!table.rows.empty()) page.tables.push_back(std::move(table));
  if (PageTable safe = safe_table(report); !safe.rows.empty())
    page.tables.push_back(std::move(safe));
  if (!answer.races.empty() && !answer.limit.empty())
    page.notes.push_back(fmt::format("There may be more: {}.", printable(answer.limit)));
  return page;
}

}  // namespace isoscope
