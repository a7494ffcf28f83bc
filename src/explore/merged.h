#pragma once
// Do all assertions hold? Every commit order of whole transactions, where equal states are visited
// once: for true, rc, ra, cc, pc, si and ser, also mixed, and for psi.
//
// Transactions commit one after the other. At ser one runs on the latest versions when it commits,
// at pc and si when it begins (as in schedule_state.h). At the weak levels it reads, when it
// commits, any version of a key that is not older than one that it sees [BiswasEnea-OOPSLA'19]:
//
//   true  it sees nothing       rc  the writes of those it has read from before this read
//   ra    those of its session and of all it reads from     cc  the same of its whole past
//   psi   as cc, and besides, of those who have written its keys before, and their past
//
// What a transaction sees of a key is kept as the place of the latest version that it sees. Two
// states are equal if everything that can follow is the same and makes the same claims fail:
//
//     how far each session is, and what a transaction under way will install
//     of each key that a call to come may read or final(x) asks for: the latest value; if a weak
//     call may read it: its versions that are not too old for all calls, what each session to go on
//     sees of it, and what one sees of other such keys who reads each version
//     the locals and ends, of calls that have run, that claims about the finished run look at
//
// Inside a transaction, choices of versions that leave it in the same state are merged, too.
// Histories are not counted: many lead to the same state. A state is remembered by 128 bits of
// hash; beyond `max_states` the search gives up.
//
// Cost  O(versions · keys) a state for its hash; 32 bytes.
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "explore/engine.h"
#include "explore/walk.h"

namespace isoscope::explore {

// A set of 128-bit hashes of bounded size.
class StateSet {
 public:
  using Hash = std::array<std::uint64_t, 2>;
  explicit StateSet(std::size_t most) : most_(most) {}

  // Is it new? Beyond the bound, nothing is added.
  bool insert(const Hash& hash);
  std::size_t size() const { return size_; }
  bool is_full() const { return size_ >= most_; }

 private:
  void grow();

  std::size_t most_;
  std::size_t size_ = 0;
  std::vector<Hash> slots_;  // open addressing; {0, 0} is free
};

// Two hashes at once, with different constants.
class StateHasher {
 public:
  void add(std::uint64_t word);
  StateSet::Hash result() const;

 private:
  std::uint64_t first_ = 0x243f6a8885a308d3;
  std::uint64_t second_ = 0x13198a2e03707344;
};

template <class Set>
class Merged {
 public:
  static constexpr std::size_t kMaxStates = 1'000'000;

  // `exact` are the rules that say just what the level says; not ua. Requires: the program is a
  // text (releveled.h): others do not tell what their claims look at.
  Merged(const Executable& program, const Rules& exact, EndStates<Set>& end_states,
         Control& control, std::size_t max_states = kMaxStates);
  Merged(const Merged&) = delete;
  Merged& operator=(const Merged&) = delete;

  void run() { explore(); }
  std::uint64_t num_states() const { return seen_.size(); }
  // How often a state was met again.
  std::uint64_t num_again() const { return num_again_; }
  // Was there room for all states? If not, the search was given up.
  bool is_complete() const { return !seen_.is_full(); }

 private:
  enum class Kind : std::uint8_t { True, Rc, Ra, Cc, Psi, Pc, Si, Ser };
  static bool is_weak(Kind kind) { return kind <= Kind::Psi; }
  static bool is_causal(Kind kind) { return kind == Kind::Cc || kind == Kind::Psi; }

  // The place of a version of each key; what is missing is 0, the initial one.
  using Places = ById<ProgramKey, std::uint32_t>;
  static std::uint32_t at(const Places& places, ProgramKey key) {
    return places.contains(key) ? places[key] : 0;
  }
  static void raise(Places& places, ProgramKey key, std::uint32_t place);
  static void raise(Places& places, const Places& by);

  struct Version {
    CallId writer = kInitialWriter;
    std::int64_t value = 0;
  };
  struct SessionState {
    CallId next = {};
    CallId end = {};  // one behind its last call
    bool is_under_way = false;
    BlockId block = {};        // of the one under way
    Places past = {};          // the latest versions in the causal past of what it has done
    Places own = {};           // that it has written
    Places pending_past = {};  // past of the one under way
  };
  struct ReadPlace {
    ProgramKey key = {};
    std::uint32_t place = 0;
  };
  // The call that runs.
  struct Running {
    ProgramSession session = {};
    CallId call = {};
    Kind kind = Kind::Ser;
    bool is_left_out = false;
    Block<Set> block = {};
    Places past = {};    // of itself
    Places oldest = {};  // by key, what a read may show at least
    std::vector<ReadPlace> reads = {};
    StateSet::Hash before = {};  // the state when it began
  };
  // A local of a call, or how the call ended, that a claim looks at.
  struct Mentioned {
    CallId call = {};
    std::optional<std::uint32_t> local;
    friend auto operator<=>(const Mentioned&, const Mentioned&) = default;
  };

  static constexpr BlockId kNotBegun = BlockId::none();

  void explore();
  void begin(ProgramSession session);
  void go_on();
  void choose(ProgramKey x, std::uint32_t first, std::uint32_t last);
  bool read_version(ProgramKey x, std::uint32_t place);
  bool are_reads_new_enough() const;
  void end_call(bool is_committed);
  void install(ProgramSession session, BlockId block, const Places& past);
  bool is_free(ProgramSession session, BlockId block, bool begins) const;
  void report_fault();

  const std::int64_t* own_write(ProgramKey x) const;
  std::vector<Version>& versions(ProgramKey x);
  bool is_over();
  bool is_new_inside();

  void note_mentioned();
  void note_readable();
  StateSet::Hash hash();
  void hash_versions(StateHasher& hasher);

  const Executable& program_;
  EndStates<Set>& end_states_;
  Control& control_;
  Budget budget_;
  std::unique_ptr<Executor> executor_;
  ById<CallId, Kind> kinds_;
  Path path_;
  Trail<Set> trail_;
  ById<ProgramSession, SessionState> sessions_;
  ById<ProgramKey, std::vector<Version>> versions_;  // as they were installed
  ById<CallId, Places> past_;                        // of calls that have installed: with their own
  ById<CallId, Places> own_;                         // the same: their own versions
  ById<CallId, BlockId> block_of_;                   // of calls that have ended or is under way
  Running running_;

  std::vector<Mentioned> mentioned_;
  struct Readable {
    ById<FamilyId, bool> by_any;
    ById<FamilyId, bool> by_weak;
    bool has_causal = false;  // is a call at cc or psi to come?
    bool has_direct = false;  // is one at true, rc or ra?
  };
  ById<CallId, Readable> readable_;  // what the call or a later one of its session may read
  ById<ProgramKey, bool> is_final_;
  ById<ProgramKey, FamilyId> family_of_;
  StateSet seen_;
  std::uint64_t num_again_ = 0;
  std::uint32_t num_failed_ = 0;  // transactions on the path in which an assertion failed
};

}  // namespace isoscope::explore
