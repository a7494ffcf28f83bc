#include "synth/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/check.h"
#include "check/level_table.h"
#include "synth/search.h"

namespace isoscope {

std::string_view name_of(ImplicationOutcome outcome) {
  switch (outcome) {
    case ImplicationOutcome::Proved: return "proved";
    case ImplicationOutcome::Refuted: return "refuted";
    case ImplicationOutcome::Bounded: return "bounded";
    case ImplicationOutcome::Unknown: break;
  }
  return "unknown";
}

std::string_view name_of(LevelRelation relation) {
  switch (relation) {
    case LevelRelation::Equivalent: return "equivalent";
    case LevelRelation::Stronger: return "stronger";
    case LevelRelation::Weaker: return "weaker";
    case LevelRelation::Incomparable: return "incomparable";
    case LevelRelation::Unknown: break;
  }
  return "unknown";
}

namespace {

bool is_decided(const Implication& i) {
  return i.outcome == ImplicationOutcome::Proved || i.outcome == ImplicationOutcome::Refuted;
}

LevelRelation relation_by(bool forward, bool backward) {
  if (forward) return backward ? LevelRelation::Equivalent : LevelRelation::Stronger;
  return backward ? LevelRelation::Weaker : LevelRelation::Incomparable;
}

}  // namespace

LevelRelation relation_of(const Implication& forward, const Implication& backward) {
  if (!is_decided(forward) || !is_decided(backward)) return LevelRelation::Unknown;
  return relation_by(forward.holds(), backward.holds());
}

std::optional<LevelRelation> bounded_relation(const Implication& forward,
                                              const Implication& backward) {
  if (is_decided(forward) && is_decided(backward)) return std::nullopt;
  if (forward.outcome == ImplicationOutcome::Unknown ||
      backward.outcome == ImplicationOutcome::Unknown)
    return std::nullopt;
  return relation_by(forward.holds(), backward.holds());
}

namespace {

// Most separating histories have no more transactions, and so few are searched at once.
constexpr int kFirstTxns = 3;
constexpr double kFirstSeconds = 2;  // a user's level may be hard to search and easy to prove

Result<SynthAnswer> separate(const Level& a, const Level& b, const CompareOptions& options,
                             int txns, Budget& budget) {
  SynthQuery query{.allow = {&a}, .forbid = {&b}, .scope = options.scope};
  query.scope.txns = 0;  // grows
  return synthesize_minimal(query, txns, budget);
}

Implication refuted(SynthAnswer answer, const Level& b, Budget& budget) {
  Implication implication;
  implication.outcome = ImplicationOutcome::Refuted;
  implication.scope = answer.scope;
  implication.anomaly = name_separation(*answer.found, b, budget);
  implication.separation = std::make_shared<const SynthFound>(*std::move(answer.found));
  return implication;
}

// Does the level speak of something of which neither of the others does? Between them it is of no
// help, and searches with it have larger histories. For the latter reason only levels about
// statements stand between two of which one is.
bool says_more(const Level& m, const Level& a, const Level& b) {
  const auto adds = [&](const auto& has) { return has(m) && !has(a) && !has(b); };
  return adds([](const Level& l) { return speaks_of_statements(l); }) ||
         adds([](const Level& l) { return l.uses_real_time; }) ||
         adds([](const Level& l) { return l.is_wr_free; }) ||
         adds([](const Level& l) { return !l.uses_session_order; }) ||
         (!speaks_of_statements(m) && (speaks_of_statements(a) || speaks_of_statements(b)));
}

// May a history of few transactions refute the implication? Quicker than a proof that fails.
Result<bool> is_soon_refuted(const Level& a, const Level& b, const CompareOptions& options,
                             int txns, Budget& budget) {
  Budget first = budget.within(kFirstSeconds);
  auto answer = separate(a, b, options, std::min(kFirstTxns, txns), first);
  if (!answer) return answer.error();
  return answer->found.has_value();
}

// Proves a ⇒ m ⇒ b for some m.
Result<std::optional<Implication>> prove_by_chain(const Level& a, const Level& b,
                                                  const CompareOptions& options, int txns,
                                                  Budget& budget) {
  std::vector<const Level*> between = options.between;
  if (between.empty()) {
    for (const auto& level : LevelSet::built_in().all()) between.push_back(level.get());
  }
  for (const Level* m : between) {
    if (m == &a || m == &b || says_more(*m, a, b)) continue;
    bool refuted = false;
    for (const auto& [from, to] : {std::pair(&a, m), std::pair(m, &b)}) {
      auto soon = is_soon_refuted(*from, *to, options, txns, budget);
      if (!soon) return soon.error();
      refuted = *soon;
      if (refuted) break;
    }
    if (refuted) continue;
    if (budget.expired_now()) break;
    const ProofAnswer first = prove_implies(a, *m, budget, options.scope.statements);
    if (first.outcome != ProofOutcome::Proved) continue;
    const ProofAnswer second = prove_implies(*m, b, budget, options.scope.statements);
    if (second.outcome != ProofOutcome::Proved) continue;
    Implication chain;
    chain.outcome = ImplicationOutcome::Proved;
    chain.proof = first;
    chain.proof->without_numbers |= second.without_numbers;
    chain.via = m;
    return std::optional(chain);
  }
  return std::optional<Implication>();
}

}  // namespace

Result<Scope> largest_scope(const std::vector<const Level*>& levels,
                            const CompareOptions& options) {
  Scope scope = options.scope;
  if (scope.txns == 0) scope.txns = options.max_txns;
  if (scope.txns < 1 || scope.txns > kMaxSynthTxns) {
    return Error{.what = fmt::format("{} transactions cannot be searched", scope.txns),
                 .hint = fmt::format("choose a number from 1 to {}", kMaxSynthTxns)};
  }
  if (scope.keys == 0) {
    for (std::size_t i = 0; i < levels.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const SynthQuery grows{.allow = {levels[i]}, .forbid = {levels[j]}};
        scope.least_keys = std::max(scope.least_keys, synthesis::open_keys(grows, 1));
        scope.keys = std::max(scope.keys, synthesis::open_keys(grows, scope.txns));
      }
    }
  }
  Budget budget;  // of a search of two transactions and one key
  bool repeats = false;
  for (const Level* level : levels)
    repeats = repeats || synthesis::may_repeat_reads({.allow = {level}, .forbid = {level}}, budget);
  return synthesis::told_scope({.allow = levels, .scope = scope, .repeated_reads = repeats});
}

Anomaly name_separation(const SynthFound& found, const Level& level, Budget& budget) {
  // A session order that is no chain is not in the history, so check() cannot see it.
  if (!found.further_so.empty()) return Anomaly::None;
  Checker checker(found.history);
  const auto name_by = [&](const Level& by) {
    const Verdict verdict = checker.check({&by, {}}, budget).verdict;
    const bool has_name = verdict.violation && verdict.violation->anomaly != Anomaly::Unexplainable;
    return has_name ? verdict.violation->anomaly : Anomaly::None;
  };
  Anomaly anomaly = name_by(level);
  for (const LogicRow& row : logic_rows()) {
    if (anomaly != Anomaly::None) break;
    if (row.logic != Logic::True)
      anomaly = name_by(**LevelSet::built_in().find(name_of(row.logic)));
  }
  return anomaly;
}

Result<Implication> decide_implication(const Level& a, const Level& b,
                                       const CompareOptions& options, Budget& budget) {
  const auto largest = largest_scope({&a, &b}, options);
  if (!largest) return largest.error();
  const int last = largest->txns;
  const auto tell = [&](std::string_view phase) {
    if (options.progress) options.progress(phase, -1);
  };
  tell(fmt::format("separating {} from {}", a.full_name(), b.full_name()));
  Budget first = budget.within(kFirstSeconds);
  auto answer = separate(a, b, options, std::min(kFirstTxns, last), first);
  if (!answer) return answer.error();
  if (answer->found) return refuted(*std::move(answer), b, budget);

  Implication implication;
  if (options.prove) {
    tell(fmt::format("proving that {} implies {}", a.full_name(), b.full_name()));
    implication.proof = prove_implies(a, b, budget, options.scope.statements);
    if (implication.proof->outcome == ProofOutcome::Proved) {
      implication.outcome = ImplicationOutcome::Proved;
      return implication;
    }
  }
  if (last > kFirstTxns || answer->outcome == SynthOutcome::Unknown) {
    tell(fmt::format("separating {} from {}", a.full_name(), b.full_name()));
    answer = separate(a, b, options, last, budget);
    if (!answer) return answer.error();
    if (answer->found) {
      const std::optional<ProofAnswer> tried = implication.proof;
      implication = refuted(*std::move(answer), b, budget);
      implication.proof = tried;
      return implication;
    }
  }
  implication.scope = answer->scope;
  implication.scope.txns = answer->excluded_txns;
  implication.limit = answer->limit;
  implication.outcome = answer->outcome == SynthOutcome::None ? ImplicationOutcome::Bounded
                                                              : ImplicationOutcome::Unknown;
  if (options.prove && implication.outcome == ImplicationOutcome::Bounded) {
    tell(fmt::format("proving that {} implies {} through others", a.full_name(), b.full_name()));
    auto chain = prove_by_chain(a, b, options, last, budget);
    if (!chain) return chain.error();
    if (*chain) return **std::move(chain);
  }
  return implication;
}

Result<CompareAnswer> compare(const Level& a, const Level& b, const CompareOptions& options,
                              Budget& budget) {
  const auto start = Budget::Clock::now();
  const auto scope = largest_scope({&a, &b}, options);
  if (!scope) return scope.error();
  // The second question gets what the first one leaves of the time, but half of it at least.
  const std::optional<double> time = budget.remaining();
  Budget half = time ? budget.within(*time / 2) : budget;
  auto forward = decide_implication(a, b, options, half);
  if (!forward) return forward.error();
  auto backward = decide_implication(b, a, options, budget);
  if (!backward) return backward.error();
  // What the second question leaves goes to a first one that half of the time was too short for.
  if (forward->outcome == ImplicationOutcome::Unknown && !budget.expired_now()) {
    forward = decide_implication(a, b, options, budget);
    if (!forward) return forward.error();
  }
  CompareAnswer answer{relation_of(*forward, *backward), bounded_relation(*forward, *backward),
                       *std::move(forward), *std::move(backward), *scope};
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  return answer;
}

}  // namespace isoscope
