#include "predict/observed.h"

#include <fmt/format.h>

#include <charconv>

#include "check/level_table.h"
#include "predict/decode.h"
#include "spec/serializable.h"
#include "support/assert.h"

namespace isoscope::predict {
namespace {

struct TraceNumber {
  std::uint64_t session = 0;
  std::uint64_t txn = 0;
};

std::optional<std::uint64_t> whole_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// The numbers of "t2_7", as traces of IsoPredict call the seventh transaction of session 2; nothing
// for other names.
std::optional<TraceNumber> trace_number(std::string_view name) {
  const std::size_t bar = name.find('_');
  if (bar == std::string_view::npos || !name.starts_with('t')) return std::nullopt;
  const auto session = whole_number(name.substr(1, bar - 1));
  const auto txn = whole_number(name.substr(bar + 1));
  if (!session || !txn) return std::nullopt;
  return TraceNumber{*session, *txn};
}

// A session whose transactions are numbered as its own, and do not come in that order. Names that
// number the transactions of several sessions are only names.
std::optional<Error> misnumbered(const History& h) {
  for (const SessionId s : h.sessions()) {
    std::optional<TraceNumber> last;
    for (const TxnId t : h.session_txns(s)) {
      const auto number = trace_number(h.name(t));
      if (number && last && number->session == last->session && number->txn <= last->txn) {
        return Error{
            .where = h.place(t),
            .what = fmt::format("{} comes after number {} of its session", h.name(t), last->txn),
            .hint =
                "the transactions of a session must come in the order of their "
                "numbers: is the trace complete and in commit order?"};
      }
      if (number) last = number;
    }
  }
  return std::nullopt;
}

// The observed run as an answer: what was committed has no serial order. Nothing if it has one.
std::optional<Prediction> already_unserializable(const History& observed, const Level& level,
                                                 const LevelSet& levels, Budget& budget) {
  const ObservedFacts facts(observed, false, budget);
  const Chosen chosen = as_observed(facts);
  PredictedHistory made = make_history(facts, chosen, judged_extent(level, Boundary::Relaxed));
  CheckAnswer serial = check(made.history, serializable_level(), budget);
  if (serial.verdict.outcome != Outcome::Violated) return std::nullopt;
  const auto assignment = assign_levels(made.history, level, levels);
  ISO_ASSERT(assignment.ok());  // that of the observed history is
  CheckAnswer allowed = Checker(made.history).check(*assignment, budget);
  return Prediction{.history = std::move(made.history),
                    .observed_txn = std::move(made.observed_txn),
                    .changed = {},
                    .ends = chosen.ends,
                    .allowed = std::move(allowed),
                    .unserializable = std::move(serial)};
}

// Aborted transactions read, so a history may violate a level that its committed ones satisfy.
bool is_violated_by_committed(const History& observed, const Level& level, const LevelSet& levels,
                              Budget& budget) {
  const ObservedFacts facts(observed, false, budget);
  const PredictedHistory made =
      make_history(facts, as_observed(facts), judged_extent(level, Boundary::Relaxed));
  const auto assignment = assign_levels(made.history, level, levels);
  ISO_ASSERT(assignment.ok());  // that of the observed history is
  return Checker(made.history).check(*assignment, budget).verdict.outcome == Outcome::Violated;
}

}  // namespace

bool later_writes_count(const Level& level, Boundary boundary) {
  if (boundary != Boundary::Strict) return boundary == Boundary::StrictPlus;
  const auto logic = logic_of(level);
  return !logic || (implies(*logic, Logic::Ua) && *logic != Logic::Ser);
}

Extent judged_extent(const Level& level, Boundary boundary) {
  return {.later_writes = later_writes_count(level, boundary),
          .own_reads = level.framework == Framework::CoSnap};
}

Result<std::optional<Prediction>> check_observed(const History& observed, const Level& level,
                                                 const LevelSet& levels, Budget& budget) {
  if (observed.has_lists()) {
    return Error{.what = "predict works on registers, and this history has lists",
                 .hint = "lists carry their version order, so a read cannot see another version"};
  }
  if (!observed.faults().empty()) {
    return Error{.where = observed.place(observed.faults().front().read),
                 .what = "the observed history has a read that no level excuses",
                 .hint = "isoscope check shows it"};
  }
  if (auto error = misnumbered(observed)) return *std::move(error);
  const auto assignment = assign_levels(observed, level, levels);
  if (!assignment) return assignment.error();
  Checker checker(observed);
  const CheckAnswer serial = checker.check({.base = &serializable_level()}, budget);
  if (serial.verdict.outcome == Outcome::Violated) {
    auto already = already_unserializable(observed, level, levels, budget);
    if (already) return already;
  }
  if (checker.check(*assignment, budget).verdict.outcome == Outcome::Violated &&
      is_violated_by_committed(observed, level, levels, budget)) {
    return Error{.what = fmt::format("the observed history violates {}", level.name),
                 .hint = fmt::format("isoscope check --level {} explains it", level.name)};
  }
  return std::optional<Prediction>();
}

}  // namespace isoscope::predict
