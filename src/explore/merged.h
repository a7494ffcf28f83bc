#pragma once
// Do all assertions hold at pc, si and ser (each transaction may have its own)? Every schedule of
// steps (schedule_state.h), where equal states are visited once.
//
// Two states are equal if everything that can follow is the same and makes the same claims fail:
//
//     how far each session is, and for a transaction under way, what it will install
//     the latest value of each key that a call to come may read, or final(x) asks for
//     the locals and ends, of calls that have run, that claims about the finished run look at
//
// Histories are not counted: many lead to the same state. A state is remembered by 128 bits of
// hash. Beyond `max_states` no more are remembered, and what leads to the others is explored again
// and again: the answer is the same, later.
//
// Cost  O(keys + sessions) a state for its hash; 32 bytes.
#include <array>
#include <memory>
#include <vector>

#include "explore/schedule_state.h"

namespace isoscope::explore {

// A set of 128-bit hashes of bounded size.
class StateSet {
 public:
  using Hash = std::array<std::uint64_t, 2>;
  explicit StateSet(std::size_t most) : most_(most) {}

  // Is it new? If there is no room, it is, each time.
  bool insert(const Hash& hash);
  std::size_t size() const { return size_; }
  bool is_full() const { return size_ >= most_; }

 private:
  void grow();

  std::size_t most_;
  std::size_t size_ = 0;
  std::vector<Hash> slots_;  // open addressing; {0, 0} is free
};

template <class Set>
class Merged final : public ScheduleState<Set> {
 public:
  static constexpr std::size_t kMaxStates = 1'000'000;

  // `mixed` as of ScheduleState.
  Merged(const Executable& program, StrongRule rule, std::vector<StrongRule> mixed,
         EndStates<Set>& end_states, Control& control, std::size_t max_states = kMaxStates);

  void run() { explore(); }
  std::uint64_t num_states() const { return num_states_; }
  // How often a state was met again.
  std::uint64_t num_again() const { return num_again_; }
  bool is_complete() const { return !seen_.is_full(); }

 private:
  using Base = ScheduleState<Set>;
  using Base::budget_;
  using Base::control_;
  using Base::keys_;
  using Base::path_;
  using Base::program_;
  using Base::sessions_;
  using Base::steps_;
  using Base::trail_;

  // A local of a call, or how the call ended, that a claim looks at.
  struct Mentioned {
    std::uint32_t call = 0;
    std::optional<std::uint32_t> local;
    friend auto operator<=>(const Mentioned&, const Mentioned&) = default;
  };

  void explore();
  void note_mentioned();
  void note_readable();
  bool is_readable(std::uint32_t key) const;
  StateSet::Hash hash();

  std::vector<Mentioned> mentioned_;
  std::vector<std::vector<bool>> readable_;  // by call: families that it or a later one may read
  std::vector<bool> is_final_;               // by key
  std::vector<std::uint32_t> family_of_;     // by key
  std::vector<std::int64_t> initial_;        // by key
  std::vector<std::uint32_t> begun_;         // by call, its block, of those that have begun
  StateSet seen_;
  std::uint64_t num_states_ = 0;
  std::uint64_t num_again_ = 0;
  std::uint32_t num_failed_ = 0;  // transactions on the path in which an assertion failed
};

}  // namespace isoscope::explore
