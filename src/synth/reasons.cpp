#include "synth/reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/formats.h"

namespace isoscope::synthesis {

namespace {

constexpr std::string_view kKeyNames[] = {"x", "y", "z", "u", "v", "w"};

std::string words_of_reader(const Facts& facts, int place) {
  if (place < facts.txns()) return fmt::format("T{}", place);
  const int t = facts.txn_of(place);
  const int first = facts.txns() + (t - 1) * facts.frame().slots;
  return fmt::format("T{} operation {}", t, place - first + 1);
}

// A history on a line.
std::string line_of(const History& h) {
  std::string text;
  const auto written =
      write_history(h, Format::Hist, [&](std::string_view piece) { text += piece; });
  if (!written) return "?";
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string("; ") : std::string(1, c);
  return line;
}

}  // namespace

std::string key_name(int i) {
  return i < static_cast<int>(std::size(kKeyNames)) ? std::string(kKeyNames[i])
                                                    : fmt::format("k{}", i + 1);
}

std::string words_of(const Facts& facts, const Facts::Meaning& m) {
  const std::string key = key_name(m.x);
  switch (m.kind) {
    case FactKind::Write: return fmt::format("T{} writes {}", m.t, key);
    case FactKind::Read:
      return fmt::format("{} reads {} from T{}", words_of_reader(facts, m.t), key, m.s);
    case FactKind::So: return fmt::format("T{} before T{} in a session", m.s, m.t);
    case FactKind::Aborted: return fmt::format("T{} aborts", m.t);
    case FactKind::RealTime: return fmt::format("T{} ends before T{} begins", m.s, m.t);
    case FactKind::Update: return fmt::format("{} writes {}", words_of_reader(facts, m.t), key);
    case FactKind::Insert: return fmt::format("{} inserts {}", words_of_reader(facts, m.t), key);
    case FactKind::Lock: return fmt::format("{} locks {}", words_of_reader(facts, m.t), key);
    case FactKind::Share:
      return fmt::format("{} locks {} for share", words_of_reader(facts, m.t), key);
    case FactKind::OwnRead:
      return fmt::format("{} reads its own {}", words_of_reader(facts, m.t), key);
    case FactKind::Joined:
      return fmt::format("{} goes on with the statement before", words_of_reader(facts, m.t));
  }
  return "";
}

std::string words_of(const FoundWitness& witness) {
  std::string words;
  for (const int t : witness.order) words += fmt::format("{}T{}", words.empty() ? "" : " ", t);
  if (witness.vis) {
    words += ", vis";
    for (const int a : witness.order) {
      witness.vis->for_each_successor(static_cast<std::size_t>(a), [&](std::size_t b) {
        words += fmt::format(" T{}-T{}", a, b);
      });
    }
  }
  if (!witness.snap.empty()) words += fmt::format(", snap {}", fmt::join(witness.snap, " "));
  return words;
}

std::string words_of_refuted(const Circuit& circuit, const Facts& facts, const Candidate& candidate,
                             const Level& level, const FoundWitness& counterexample) {
  std::string words = "refuted candidate";
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    if (candidate[i]) words += fmt::format(" {}", circuit.variable_of(facts.inputs()[i]));
  }
  const SynthFound told = decode(facts.frame(), candidate, {counterexample}, {&level});
  const History& h = told.history;
  const Witness& w = told.witnesses.front();
  words += fmt::format(": {}allowed by {}", line_of(h),
                       level.framework == Framework::VisAr ? "ar" : "co");
  for (const TxnId t : w.order) words += " " + h.name(t);
  if (w.vis) {
    words += ", vis";
    for (const TxnId a : w.order) {
      w.vis->for_each_successor(a.index, [&](std::size_t b) {
        words += fmt::format(" {}-{}", h.name(a), h.name(TxnId{static_cast<std::uint32_t>(b)}));
      });
    }
  }
  if (!w.snap.empty()) words += fmt::format(", snap {}", fmt::join(w.snap, " "));
  return words;
}

}  // namespace isoscope::synthesis
