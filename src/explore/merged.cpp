#include "explore/merged.h"

#include <algorithm>

#include "explore/releveled.h"
#include "program/program.h"
#include "store/txn_set.h"

namespace isoscope::explore {
namespace {

constexpr std::uint32_t kNotBegun = 0xffffffff;

// Two hashes at once, with different constants.
class Hasher {
 public:
  void add(std::uint64_t word) {
    first_ = mix(first_ ^ word, 0x9e3779b97f4a7c15);
    second_ = mix(second_ + word, 0xd6e8feb86659fd93);
  }
  StateSet::Hash result() const {
    const StateSet::Hash hash = {first_, second_};
    return hash == StateSet::Hash{} ? StateSet::Hash{1, 1} : hash;
  }

 private:
  static std::uint64_t mix(std::uint64_t word, std::uint64_t factor) {
    word ^= word >> 32;
    word *= factor;
    word ^= word >> 29;
    word *= 0xbf58476d1ce4e5b9;
    return word ^ (word >> 32);
  }

  std::uint64_t first_ = 0x243f6a8885a308d3;
  std::uint64_t second_ = 0x13198a2e03707344;
};

}  // namespace

void StateSet::grow() {
  std::vector<Hash> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(1024, 2 * old.size()), Hash{});
  size_ = 0;
  for (const Hash& hash : old) {
    if (hash != Hash{}) insert(hash);
  }
}

bool StateSet::insert(const Hash& hash) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  std::size_t i = hash[0] & (slots_.size() - 1);
  for (; slots_[i] != Hash{}; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i] == hash) return false;
  }
  if (is_full()) return true;
  slots_[i] = hash;
  ++size_;
  return true;
}

template <class Set>
Merged<Set>::Merged(const Executable& program, StrongRule rule, std::vector<StrongRule> mixed,
                    EndStates<Set>& end_states, Control& control, std::size_t max_states)
    : Base(program, rule, std::move(mixed), end_states, control),
      begun_(program.outline().calls.size(), kNotBegun),
      seen_(max_states) {
  note_mentioned();
  note_readable();
}

// What claims about the finished run look at. Of programs that are not text, everything.
template <class Set>
void Merged<Set>::note_mentioned() {
  const auto* releveled = dynamic_cast<const Releveled*>(&program_);
  const auto* text =
      dynamic_cast<const Program*>(releveled != nullptr ? &releveled->program() : &program_);
  const std::vector<Call>& calls = program_.outline().calls;
  if (text == nullptr) {
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      mentioned_.push_back({call, std::nullopt});
      for (std::uint32_t i = 0; i < program_.local_names(CallId{call}).size(); ++i)
        mentioned_.push_back({call, i});
    }
    return;
  }
  for (const FinalAssertion& claim : text->final_assertions()) {
    for (const FinalInput& input : claim.inputs) {
      if (input.final_key) continue;
      // Any of its attempts may be the one that counts, and their ends tell which.
      std::uint32_t call = input.call.index;
      do {
        mentioned_.push_back({call, input.local});
        if (call + 1 < calls.size() && calls[call + 1].attempt > 1)
          mentioned_.push_back({call, std::nullopt});
        ++call;
      } while (call < calls.size() && calls[call].attempt > 1);
    }
  }
  std::sort(mentioned_.begin(), mentioned_.end());
  mentioned_.erase(std::unique(mentioned_.begin(), mentioned_.end()), mentioned_.end());
}

template <class Set>
void Merged<Set>::note_readable() {
  const Outline& outline = program_.outline();
  readable_.resize(outline.calls.size());
  const std::size_t num_families = program_.keys().num_families();
  for (const Session& session : outline.sessions) {
    std::vector<bool> later(num_families, false);
    for (std::uint32_t call = session.first + session.size; call-- > session.first;) {
      for (const FamilyId family : program_.may_read(CallId{call})) later[family.index] = true;
      readable_[call] = later;
    }
  }
  for (const ProgramKey x : program_.final_keys()) {
    if (x.index >= is_final_.size()) is_final_.resize(x.index + 1, false);
    is_final_[x.index] = true;
  }
}

// May a call that has not begun read the key, or does a claim ask for its last value?
template <class Set>
bool Merged<Set>::is_readable(std::uint32_t key) const {
  if (key < is_final_.size() && is_final_[key]) return true;
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& session) {
    const std::uint32_t next = session.next + (session.is_under_way ? 1 : 0);
    return next < session.end && readable_[next][family_of_[key]];
  });
}

template <class Set>
StateSet::Hash Merged<Set>::hash() {
  Hasher hasher;
  for (const auto& session : sessions_) {
    hasher.add(std::uint64_t{session.next} << 1 | (session.is_under_way ? 1U : 0U));
    if (!session.is_under_way) continue;
    const Step& step = steps_[session.last];
    const auto writes = trail_.writes_of(trail_.blocks[step.block]);
    hasher.add(writes.size());
    for (const WriteEvent& write : writes) {
      hasher.add(write.key.index);
      hasher.add(static_cast<std::uint64_t>(write.value));
    }
  }
  while (family_of_.size() < this->latest_.size()) {
    const ProgramKey added{narrow(family_of_.size())};
    family_of_.push_back(program_.keys().family(added).index);
    initial_.push_back(program_.keys().initial(added));
  }
  for (std::uint32_t key = 0; key < this->latest_.size(); ++key) {
    const auto& version = this->latest_[key];
    if (version.value == initial_[key] || !is_readable(key)) continue;
    hasher.add(key);
    hasher.add(static_cast<std::uint64_t>(version.value));
  }
  hasher.add(~std::uint64_t{0});  // no key
  for (const Mentioned& each : mentioned_) {
    if (begun_[each.call] == kNotBegun) continue;
    const Block<Set>& block = trail_.blocks[begun_[each.call]];
    hasher.add(each.local ? static_cast<std::uint64_t>(trail_.locals_of(block)[*each.local])
                          : std::uint64_t{block.is_committed});
  }
  return hasher.result();
}

template <class Set>
void Merged<Set>::explore() {
  control_.calls.fetch_add(1, std::memory_order_relaxed);
  if (control_.is_over(budget_, path_)) return;
  // What has failed is told at the end of some run.
  if (num_failed_ == 0) {
    if (!seen_.insert(hash())) {
      ++num_again_;
      return;
    }
    ++num_states_;
  }
  bool is_end = true;
  for (std::uint32_t session = 0; session < sessions_.size(); ++session) {
    if (!this->has_next(session)) continue;
    is_end = false;
    const typename Trail<Set>::Mark mark = trail_.mark();
    const std::size_t num_keys = keys_.size();
    const auto step = this->next_step(session);
    if (!step) return;
    if (step->can_run) {
      const Block<Set>& block = trail_.blocks[step->block];
      const std::uint32_t call = block.call;
      const bool begins = step->kind != StepKind::Commit;
      const std::uint32_t failed = begins && block.failed_assertion ? 1 : 0;
      if (begins) begun_[call] = step->block;
      num_failed_ += failed;
      const std::size_t num_overwritten = this->overwritten_.size();
      this->take(*step);
      path_.push_back(session);
      explore();
      path_.pop_back();
      this->take_back(*step, num_overwritten);
      num_failed_ -= failed;
      if (begins) begun_[call] = kNotBegun;
    }
    trail_.cut(mark);
    keys_.resize(num_keys);
    if (control_.is_stopped()) return;
  }
  if (is_end) this->end_states_.on_end_state({trail_, trail_.order, path_});
}

template class Merged<TxnSet<1>>;
template class Merged<TxnSet<4>>;

}  // namespace isoscope::explore
