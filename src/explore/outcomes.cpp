#include "explore/outcomes.h"

#include <algorithm>

#include "check/check.h"
#include "check/level_table.h"
#include "explore/recording_packing.h"

namespace isoscope::explore {
namespace {

std::uint32_t all_levels() { return (1U << ladder().size()) - 1; }

}  // namespace

const std::vector<const Level*>& ladder() {
  static const std::vector<const Level*> levels = [] {
    std::vector<const Level*> known = levels_with_engines(false);
    std::erase_if(known, [](const Level* level) { return logic_of(*level) == Logic::Ua; });
    return known;
  }();
  return levels;
}

void Outcomes::add(const store::Recording& run) {
  std::vector<std::int64_t> values;
  for (const CallId call : run.txns.ids()) {
    const store::RecordedTxn& txn = run.txns[call];
    values.push_back(txn.is_left_out ? 2 : txn.is_committed ? 1 : 0);
    const auto names = program_.local_names(call);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty()) values.push_back(txn.locals[i]);
    }
  }
  std::vector<AssertionId> failed = run.failed_assertions();
  std::sort(failed.begin(), failed.end());
  // Claims about final values of keys look at more than locals.
  for (const AssertionId claim : failed) values.push_back(claim.index);
  const auto [found, is_new] = by_values_.try_emplace(std::move(values));
  Entry& entry = found->second;
  ++entry.outcome.histories;
  if (is_new) {
    for (const store::RecordedTxn& txn : run.txns)
      entry.outcome.txns.push_back(
          {.is_committed = txn.is_committed, .locals = txn.locals, .is_left_out = txn.is_left_out});
    entry.outcome.failed_assertions = failed;
  }
  if (keeps_examples_) {
    Packer packer;
    explore::pack(packer, program_, run);
    keep_example(entry, packer.take(), run);
  }
  if (entry.allowed == all_levels()) return;
  const History h = to_history(program_, run);
  Checker checker(h);
  // The strongest first: what it allows, the weaker ones allow, and the checker knows.
  for (std::size_t i = ladder().size(); i-- > 0;) {
    if ((entry.allowed >> i & 1U) != 0) continue;
    const Assignment level{.base = ladder()[i]};
    const Outcome outcome = checker.check(level, budget_).verdict.outcome;
    if (outcome == Outcome::Consistent) entry.allowed |= 1U << i;
    if (outcome == Outcome::Unknown) entry.undecided |= 1U << i;
  }
}

void Outcomes::keep_example(Entry& entry, std::string bytes, store::Recording run) const {
  if (!entry.example.empty() && entry.example <= bytes) return;
  keep_keys(program_, run);
  entry.example = std::move(bytes);
  entry.outcome.example = std::move(run);
}

void Outcomes::pack(Packer& out) const {
  out.number(by_values_.size());
  for (const auto& [values, entry] : by_values_) {
    out.number(values.size());
    for (const std::int64_t value : values) out.integer(value);
    out.number(entry.outcome.histories).number(entry.allowed).number(entry.undecided);
    out.number(entry.outcome.txns.size());
    for (const store::RecordedTxn& txn : entry.outcome.txns) {
      out.number(txn.is_committed ? 1 : 0).number(txn.is_left_out ? 1 : 0);
      out.number(txn.locals.size());
      for (const std::int64_t value : txn.locals) out.integer(value);
    }
    out.number(entry.outcome.failed_assertions.size());
    for (const AssertionId claim : entry.outcome.failed_assertions) out.number(claim.index);
    out.text(entry.example);
  }
}

void Outcomes::merge(Unpacker& in) {
  for (std::size_t i = in.count(); i-- > 0 && in.is_good();) {
    std::vector<std::int64_t> values(in.count());
    for (std::int64_t& value : values) value = in.integer();
    Entry& entry = by_values_[std::move(values)];
    entry.outcome.histories += in.number();
    entry.allowed |= in.small();
    entry.undecided |= in.small();
    entry.outcome.txns.resize(in.count());
    for (store::RecordedTxn& txn : entry.outcome.txns) {
      txn.is_committed = in.number() != 0;
      txn.is_left_out = in.number() != 0;
      txn.locals.resize(in.count());
      for (std::int64_t& value : txn.locals) value = in.integer();
    }
    entry.outcome.failed_assertions.resize(in.count());
    for (AssertionId& claim : entry.outcome.failed_assertions) claim = {in.small()};
    if (std::string bytes = in.text(); !bytes.empty()) {
      Unpacker packed(bytes);
      store::Recording run = unpack_recording(packed, program_);
      keep_example(entry, std::move(bytes), std::move(run));
    }
  }
}

std::vector<ProgramOutcome> Outcomes::sorted() const {
  std::vector<ProgramOutcome> all;
  for (const auto& [values, entry] : by_values_) {
    all.push_back(entry.outcome);
    all.back().is_decided = (entry.undecided & ~entry.allowed) == 0;
    for (std::size_t i = 0; i < ladder().size(); ++i) {
      if ((entry.allowed >> i & 1U) != 0) all.back().levels.push_back(ladder()[i]->name);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const ProgramOutcome& a, const ProgramOutcome& b) {
    return a.histories > b.histories;
  });
  return all;
}

}  // namespace isoscope::explore
