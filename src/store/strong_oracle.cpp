#include "store/strong_oracle.h"

#include "support/assert.h"

namespace isoscope::store {

namespace {

const CallId* writer_or_null(const CallId& writer) {
  return writer == kInitialWriter ? nullptr : &writer;
}

}  // namespace

StrongOracle::StrongOracle(const Executable& program, StrongRule rule, const Budget& budget)
    : program_(program),
      rule_(rule),
      budget_(budget),
      facts_(static_cast<std::uint32_t>(program.outline().calls.size())),
      trial_(facts_) {}

void StrongOracle::reset() {
  facts_.clear();
  for (Key& k : keys_) {
    k.writers = {};
    k.readers.clear();
  }
}

bool StrongOracle::is_possible(const LinearFacts<Set>& facts, StrongRule rule) {
  const bool is_possible = linearizer_.is_possible(facts, rule, budget_);
  is_expired_ = is_expired_ || (!is_possible && budget_.expired());
  return is_possible;
}

StrongOracle::Key& StrongOracle::key(ProgramKey x) { return keys_.grown(x); }

void StrongOracle::begin(CallId call) {
  call_ = call;
  read_from_ = {};
  reads_.clear();
}

void StrongOracle::add_pending(LinearFacts<Set>& facts, const Set& read_from) {
  facts.add_txn(call_, program_.outline().calls[call_].session, read_from);
  for (const Read& read : reads_)
    facts.add_read(call_, writer_or_null(read.writer), key(read.key).writers);
}

void StrongOracle::add_writes(LinearFacts<Set>& facts, std::span<const ProgramKey> written) {
  for (const ProgramKey x : written) {
    const Key& k = key(x);
    for (const Reader& reader : k.readers)
      facts.add_read(reader.call, writer_or_null(reader.writer), Set::of(call_));
    facts.add_conflict(call_, k.writers);
  }
}

bool StrongOracle::allows(ProgramKey x, CallId w) {
  if (key(x).writers.empty()) return true;  // only T0 wrote it
  Set read_from = read_from_;
  if (w != kInitialWriter) read_from.insert(w);
  trial_ = facts_;
  add_pending(trial_, read_from);
  trial_.add_read(call_, writer_or_null(w), key(x).writers);
  return is_possible(trial_, rule_);
}

void StrongOracle::take(ProgramKey x, CallId w) {
  reads_.push_back({x, w});
  if (w != kInitialWriter) read_from_.insert(w);
}

bool StrongOracle::allows_commit(std::span<const ProgramKey> written) {
  // A transaction that only reads, and one whose snapshot may be as old as it likes.
  if (written.empty() || rule_ == StrongRule::Pc) return true;
  trial_ = facts_;
  add_pending(trial_, read_from_);
  add_writes(trial_, written);
  return is_possible(trial_, rule_);
}

void StrongOracle::end(bool is_committed, std::span<const ProgramKey> written) {
  add_pending(facts_, read_from_);
  if (is_committed) {
    add_writes(facts_, written);
    for (const ProgramKey x : written) key(x).writers.insert(call_);
  }
  for (const Read& read : reads_) key(read.key).readers.push_back({call_, read.writer});
}

std::span<const CallId> StrongOracle::explanation() {
  const bool is_explained = is_possible(facts_, rule_);
  ISO_ASSERT(is_explained || is_expired_);  // every transaction that ended was asked about
  explanation_.assign(linearizer_.order().begin(), linearizer_.order().end());
  return explanation_;
}

}  // namespace isoscope::store
