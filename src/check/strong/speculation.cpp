#include "check/strong/speculation.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "check/strong/propagation.h"

namespace isoscope::strong {
namespace {

constexpr std::uint32_t kMaxRestarts = 30;

// A pair of versions for each choice, a's first: the order of one pair tells that of all.
using VersionPairs = std::vector<std::pair<VersionId, VersionId>>;

VersionPairs version_pairs(const Residue& residue) {
  const VersionOrder& order = residue.known().order;
  VersionPairs pairs(residue.choices().size());
  for_each_open_pair(order, [&](KeyId, VersionId v, VersionId w) {
    const ChoiceLit lit = *residue.find(order.facts().writer(v), order.facts().writer(w));
    pairs[lit.choice()] = lit.is_a_first() ? std::pair(v, w) : std::pair(w, v);
    return true;
  });
  return pairs;
}

// The choices, by the time when both had committed.
std::vector<std::uint32_t> in_order_of_time(const Residue& residue, const Guess& guess) {
  const auto choices = residue.choices();
  const auto time = [&](std::uint32_t c) {
    return std::max(guess.committed[choices[c].a.index], guess.committed[choices[c].b.index]);
  };
  std::vector<std::uint32_t> sequence(choices.size());
  std::iota(sequence.begin(), sequence.end(), 0U);
  std::stable_sort(sequence.begin(), sequence.end(),
                   [&](std::uint32_t c, std::uint32_t d) { return time(c) < time(d); });
  return sequence;
}

// One pass over the choices.
struct Pass {
  Answers answers;                    // those that it made, else the guessed ones
  std::optional<std::size_t> failed;  // where in the sequence both answers closed a cycle
  bool is_refutation = false;         // that was before any answer was made
};

Pass run_pass(const Residue& residue, const Answers& guessed, const VersionPairs& pairs,
              const std::vector<std::uint32_t>& sequence, Budget& budget) {
  Pass pass;
  pass.answers = guessed;
  Propagation propagation(residue.known(), budget);
  pass.is_refutation = true;
  for (std::size_t i = 0; i < sequence.size() && !pass.failed; ++i) {
    if (budget.expired()) break;
    const std::uint32_t c = sequence[i];
    const auto [v, w] = pairs[c];
    if (propagation.order().is_before(v, w) || propagation.order().is_before(w, v)) continue;
    const auto [a, b] = residue.choices()[c];
    const auto assume = [&, first = a, second = b](bool a_first) {
      const bool holds = a_first ? propagation.assume_order(first, second)
                                 : propagation.assume_order(second, first);
      if (holds) {
        propagation.keep();
      } else {
        propagation.take_back();
      }
      return holds;
    };
    if (!assume(guessed[c]) && !assume(!guessed[c])) {
      pass.failed = i;
    } else {
      pass.is_refutation = false;
    }
  }
  pass.is_refutation &= pass.failed.has_value();
  for (std::size_t c = 0; c < pairs.size(); ++c) {
    const auto [v, w] = pairs[c];
    if (propagation.order().is_before(v, w)) pass.answers[c] = true;
    if (propagation.order().is_before(w, v)) pass.answers[c] = false;
  }
  return pass;
}

}  // namespace

Speculation speculate(const Residue& residue, const Guess& guess, Budget& budget) {
  const VersionPairs pairs = version_pairs(residue);
  const Answers guessed = answers_of(residue, guess);
  std::vector<std::uint32_t> sequence = in_order_of_time(residue, guess);
  Speculation speculation;
  for (;; ++speculation.restarts) {
    Pass pass = run_pass(residue, guessed, pairs, sequence, budget);
    speculation.answers = std::move(pass.answers);
    if (budget.expired_now()) return speculation;
    if (!pass.failed || pass.is_refutation) {
      speculation.result = pass.failed ? Speculated::Refuted : Speculated::Found;
      return speculation;
    }
    if (speculation.restarts == kMaxRestarts) return speculation;
    const auto failed = sequence.begin() + static_cast<std::ptrdiff_t>(*pass.failed);
    std::rotate(sequence.begin(), failed, failed + 1);
  }
}

}  // namespace isoscope::strong
