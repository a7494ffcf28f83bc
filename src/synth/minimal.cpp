// Smallest histories, all of them, and how many histories there are.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "synth/rename.h"
#include "synth/search.h"
#include "synth/synth.h"

namespace isoscope {

namespace {

using synthesis::Candidate;
using synthesis::Facts;
using synthesis::Proposal;
using synthesis::Search;

std::string maybe_not_minimal() {
  return fmt::format("{}; the history may not be minimal", limit_reached());
}

int number_of(const std::vector<Signal>& signals, const Circuit& c) {
  return static_cast<int>(
      std::count_if(signals.begin(), signals.end(), [&](Signal s) { return c.value(s); }));
}

Result<void> check_sizes(const SynthQuery& query, int max_txns) {
  SynthQuery whole = query;
  if (whole.scope.txns == 0) whole.scope.txns = std::max(1, max_txns);
  if (whole.scope.keys == 0) whole.scope.keys = synthesis::open_keys(query, whole.scope.txns);
  return synthesis::check_scope(whole);
}

// The smallest scope in which there is an answer, one size after the other.
class ScopeSearch {
 public:
  ScopeSearch(const SynthQuery& query, Budget& budget)
      : query_(query),
        budget_(budget),
        may_repeat_(!query.repeated_reads && synthesis::may_repeat_reads(query, budget)) {}

  // Of an answer or a list: fills its outcome, scope, excluded_txns, limit and stats.
  template <typename Answer>
  void run(int max_txns, Answer& answer) {
    answer.outcome = grow(max_txns, answer.scope, answer.excluded_txns, answer.stats);
    answer.scope = told(answer.scope);
    const bool keys_grew = query_.scope.txns == 0 && query_.scope.keys == 0;
    if (keys_grew && answer.outcome != SynthOutcome::Found)
      answer.scope.least_keys = synthesis::open_keys(query_, 1);
    if (answer.outcome == SynthOutcome::Unknown) answer.limit = limit_reached();
    if constexpr (std::is_same_v<Answer, SynthAnswer>) {
      if (answer.outcome != SynthOutcome::None) return;
      answer.refutations = std::move(refutations_);
      answer.uncertified = std::move(uncertified_);
    }
  }

  // The last history found on the way, in a scope that may not be the smallest one.
  bool has_found() const { return !last_.candidate.empty(); }
  Result<SynthFound> last_found() {
    return synthesis::conclude(last_query_, synthesis::frame_of(last_query_), last_, budget_);
  }
  // As it was asked last: the answer may repeat reads though the question did not ask for it.
  const SynthQuery& query() const { return query_; }
  Scope last_scope() const { return synthesis::told_scope(last_query_); }

 private:
  SynthOutcome grow(int max_txns, Scope& scope, int& excluded_txns, Stats& stats) {
    const Scope& stated = query_.scope;
    const int first = stated.txns > 0 ? stated.txns : 1;
    const int last = stated.txns > 0 ? stated.txns : max_txns;
    for (int txns = first; txns <= last; ++txns) {
      scope = stated;
      scope.txns = txns;
      if (scope.keys == 0) scope.keys = synthesis::open_keys(query_, txns);
      if (scope.values == 0 || scope.values > txns + 1) scope.values = txns + 1;
      if (query_.progress)
        query_.progress(fmt::format("searching histories of {} transactions", txns), -1);
      SynthOutcome outcome = ask(scope, stats);
      if (outcome == SynthOutcome::None && may_repeat_) {
        query_.repeated_reads = true;
        outcome = ask(scope, stats);
      }
      if (outcome == SynthOutcome::Unknown) return outcome;
      if (outcome == SynthOutcome::Found) return shrink(scope, stats);
      if (txns < last && may_repeat_) query_.repeated_reads = false;
      if (stated.txns == 0) excluded_txns = txns;
    }
    return SynthOutcome::None;
  }

  Scope told(const Scope& scope) const {
    SynthQuery query = query_;
    query.scope = scope;
    return synthesis::told_scope(query);
  }

  SynthOutcome ask(const Scope& scope, Stats& stats) {
    SynthQuery query = query_;
    query.scope = scope;
    Search search(query, budget_);
    const SynthOutcome outcome = search.next({}, budget_);
    search.add_stats(stats);
    if (outcome == SynthOutcome::None && query.certify && uncertified_.empty()) {
      auto refutation = search.refutation(budget_);
      if (!refutation) {
        uncertified_ = refutation.error().what;
      } else {
        refutations_.push_back(*std::move(refutation));
      }
    }
    if (outcome == SynthOutcome::Found) {
      last_ = search.proposal();
      last_query_ = query;
    }
    return outcome;
  }

  SynthOutcome shrink(Scope& scope, Stats& stats) {
    query_.certify = false;  // there is one
    for (int Scope::*size : {&Scope::keys, &Scope::values}) {
      const int largest = scope.*size;
      for (scope.*size = 1; scope.*size < largest; ++(scope.*size)) {
        const SynthOutcome outcome = ask(scope, stats);
        if (outcome == SynthOutcome::Unknown) return outcome;
        if (outcome == SynthOutcome::Found) break;
      }
    }
    return SynthOutcome::Found;
  }

  SynthQuery query_;
  Budget& budget_;
  bool may_repeat_;
  Proposal last_;
  SynthQuery last_query_;
  std::vector<ScopeRefutation> refutations_;
  std::string uncertified_;
};

// Makes `signals` true as rarely as possible, for good. Found, with the best proposal, or Unknown.
SynthOutcome minimize(Search& search, const std::vector<Signal>& signals, Proposal& best,
                      Budget& budget) {
  const std::vector<Signal> counts = synthesis::sorted_count(search.circuit(), signals);
  for (;;) {
    const SynthOutcome found = search.next({}, budget);
    if (found == SynthOutcome::Unknown) return found;
    if (found == SynthOutcome::None) return SynthOutcome::None;
    best = search.proposal();
    int number = number_of(signals, search.circuit());
    while (number > 0) {
      const Signal fewer = !counts[static_cast<std::size_t>(number - 1)];
      const SynthOutcome smaller = search.next({&fewer, 1}, budget);
      if (smaller == SynthOutcome::Unknown) return smaller;
      if (smaller == SynthOutcome::None) break;
      best = search.proposal();
      number = number_of(signals, search.circuit());
    }
    if (static_cast<std::size_t>(number) < counts.size())
      search.circuit().require(!counts[static_cast<std::size_t>(number)]);
    return SynthOutcome::Found;
  }
}

// Operations first, then session edges, then what else makes a history harder to read.
SynthOutcome minimize_all(Search& search, Proposal& best, Budget& budget) {
  SynthOutcome done = SynthOutcome::Found;
  for (const auto& signals : {search.facts().operations(), search.facts().session_edges(),
                              search.facts().decorations()}) {
    if (done == SynthOutcome::Found && !signals.empty())
      done = minimize(search, signals, best, budget);
  }
  return done;
}

// From now on, no history that contains a renaming of this one; or, `exactly`, that is one.
void rule_out(Search& search, const Candidate& candidate, bool exactly) {
  const std::vector<Signal>& inputs = search.facts().inputs();
  std::set<Candidate> done;
  synthesis::for_each_renaming(search.facts(), candidate, [&](const Candidate& renamed) {
    if (!done.insert(renamed).second) return;
    std::vector<Signal> differs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (renamed[i]) differs.push_back(!inputs[i]);
      if (!renamed[i] && exactly) differs.push_back(inputs[i]);
    }
    search.circuit().require_any(differs);
  });
}

// Leaves out operations and session edges as long as the rest is still an answer.
SynthOutcome reduce(Search& search, Proposal& proposal, Budget& budget) {
  for (;;) {
    Circuit& c = search.circuit();
    const std::vector<Signal>& inputs = search.facts().inputs();
    const Signal smaller = c.input();
    std::vector<Signal> something_less = {!smaller};
    std::vector<Signal> assumptions = {smaller};
    for (std::size_t i = 0; i < inputs.size(); ++i)
      (proposal.candidate[i] ? something_less : assumptions).push_back(!inputs[i]);
    c.require_any(something_less);
    const SynthOutcome found = search.next(assumptions, budget);
    if (found == SynthOutcome::Found) proposal = search.proposal();
    c.require(!smaller);
    if (found != SynthOutcome::Found) return found;
  }
}

Error too_many_names(const Scope& scope) {
  return Error{.what = fmt::format("{} transactions and {} keys have too many names to list "
                                   "histories up to renaming",
                                   scope.txns, scope.keys),
               .hint = "lower --txns or --keys"};
}

}  // namespace

Result<SynthAnswer> synthesize_minimal(const SynthQuery& query, int max_txns, Budget& budget) {
  if (auto fits = check_sizes(query, max_txns); !fits) return fits.error();
  SynthAnswer answer;
  ScopeSearch scopes(query, budget);
  scopes.run(max_txns, answer);
  if (answer.outcome == SynthOutcome::None || !scopes.has_found()) return answer;
  answer.scope = scopes.last_scope();
  const auto keep = [&answer](Result<SynthFound> found) -> Result<SynthAnswer> {
    if (!found) return found.error();
    answer.found = *std::move(found);
    return std::move(answer);
  };
  if (answer.outcome == SynthOutcome::Unknown) {
    answer.limit = maybe_not_minimal();
    return keep(scopes.last_found());
  }

  SynthQuery smallest = scopes.query();
  smallest.scope = answer.scope;
  Search search(smallest, budget);
  Proposal best;
  const SynthOutcome done = minimize_all(search, best, budget);
  search.add_stats(answer.stats);
  if (done != SynthOutcome::Found) {
    answer.outcome = SynthOutcome::Unknown;
    answer.limit = maybe_not_minimal();
  }
  if (best.candidate.empty()) return keep(scopes.last_found());
  return keep(synthesis::conclude(smallest, search.frame(), best, budget));
}

Result<SynthList> synthesize_all_minimal(const SynthQuery& query, Minimality minimality,
                                         int max_txns, Budget& budget) {
  if (auto fits = check_sizes(query, max_txns); !fits) return fits.error();
  if (minimality == Minimality::Irreducible &&
      synthesis::distinctions_of(query.allow, query.forbid).statements) {
    // What is left of a statement without one of its operations is no part of the same facts.
    return Error{.what = "histories with statements cannot be reduced operation by operation",
                 .hint = "--all lists those with the fewest operations"};
  }
  SynthList list;
  ScopeSearch scopes(query, budget);
  scopes.run(max_txns, list);
  if (list.outcome != SynthOutcome::Found) return list;
  if (!synthesis::num_renamings(list.scope)) return too_many_names(list.scope);

  SynthQuery smallest = scopes.query();
  smallest.scope = list.scope;
  // A part of a history may need another order, and other names of its keys, than the whole.
  const bool irreducible = minimality == Minimality::Irreducible;
  if (irreducible) smallest.fixed_order = false;
  Search search(smallest, budget, irreducible);
  SynthOutcome next = SynthOutcome::Found;
  Proposal proposal;
  if (!irreducible) next = minimize_all(search, proposal, budget);
  while (next == SynthOutcome::Found) {
    next = search.next({}, budget);
    if (next != SynthOutcome::Found) break;
    proposal = search.proposal();
    if (irreducible && reduce(search, proposal, budget) == SynthOutcome::Unknown) {
      next = SynthOutcome::Unknown;
      break;
    }
    auto found = synthesis::conclude(smallest, search.frame(), proposal, budget);
    if (!found) return found.error();
    list.found.push_back(*std::move(found));
    rule_out(search, proposal.candidate, false);
  }
  search.add_stats(list.stats);
  if (next == SynthOutcome::Unknown) {
    list.outcome = SynthOutcome::Unknown;
    list.limit = fmt::format("{}; there may be more", limit_reached());
  }
  return list;
}

Result<SynthCount> count_histories(const SynthQuery& query, Budget& budget) {
  if (auto fits = synthesis::check_scope(query); !fits) return fits.error();
  if (!synthesis::num_renamings(query.scope)) return too_many_names(query.scope);
  Search search(query, budget);
  SynthCount count;
  for (;;) {
    const SynthOutcome next = search.next({}, budget);
    if (next != SynthOutcome::Found) {
      count.outcome = next == SynthOutcome::None && count.count > 0 ? SynthOutcome::Found : next;
      if (next == SynthOutcome::Unknown) count.limit = limit_reached();
      break;
    }
    ++count.count;
    rule_out(search, search.proposal().candidate, true);
  }
  search.add_stats(count.stats);
  return count;
}

}  // namespace isoscope
