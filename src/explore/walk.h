#pragma once
// Walks through the ways in which the pending transaction of a history can go on.
//
// The part that all engines share: run the transaction to its next access, let a read take every
// writer that the rules allow, one after the other, and say when the transaction ends. What comes
// next in the history, and whether earlier reads are looked at again, is the engine's business.
//
// Rules  are either one of true, rc, ra, cc for each transaction (store/weak_rules.h), kept as a
//        forced order; or pc, si or ser for all, decided anew at each read and at the end of each
//        transaction (store/linearizer.h); or a mixture of all of these, where the linearizer is
//        given what is forced; or psi or ua for all, where writers of a key see each other
//        (sight.h); or rules that force an order, for levels that no engine is made for
//        (level_rules.h), besides a weaker level.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "explore/engine.h"
#include "explore/level_witness.h"
#include "program/remembered.h"
#include "store/linearizer.h"
#include "store/weak_rules.h"

namespace isoscope::explore {

// Besides a weak level: of two writers of a key one sees the other.
enum class SightRule : std::uint8_t { Psi, Ua };

struct Rules {
  ById<CallId, WeakLevel> weak;
  std::optional<StrongRule> strong = {};  // if set, it counts instead
  std::optional<SightRule> sight = {};    // besides cc (psi) or ra (ua)
  // Of a mixture: besides the weak level of a call its strong rule, if it has one. Else empty.
  ById<CallId, std::optional<StrongRule>> mixed = {};
  std::shared_ptr<const LevelRules> forcing = {};  // besides `weak`; null if there are none

  bool is_linear() const { return strong.has_value() || !mixed.empty(); }
  // Does the call read from a snapshot?
  bool has_snapshot(CallId call) const { return strong || mixed[call].has_value(); }
  // For the linearizer.
  template <class Set>
  TxnRules<Set> txn_rules() const {
    if (strong) return TxnRules<Set>::all(*strong);
    TxnRules<Set> rules;
    for (const CallId call : mixed.ids()) {
      if (!mixed[call] || *mixed[call] == StrongRule::Ser) continue;
      rules.split.insert(call);
      if (*mixed[call] == StrongRule::Si) rules.si.insert(call);
    }
    return rules;
  }
};

template <class Set>
using Reader = store::Reader<Set, ReadEvent<Set>>;

// A set of keys that may say yes for a key that is not in it.
class KeyFilter {
 public:
  void insert(ProgramKey x) { words_[word(x)] |= bit(x); }
  bool may_contain(ProgramKey x) const { return (words_[word(x)] & bit(x)) != 0; }

 private:
  static std::size_t word(ProgramKey x) { return x.index / 64 % 4; }
  static std::uint64_t bit(ProgramKey x) { return std::uint64_t{1} << (x.index % 64); }
  std::array<std::uint64_t, 4> words_ = {};
};

template <class Set>
class Walk {
 public:
  Walk(const Executable& program, Rules rules, EndStates<Set>& end_states, Control& control);
  virtual ~Walk() = default;
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // The whole exploration as one piece.
  static Piece root() { return {.words = {0, 0}}; }

 protected:
  // The transaction that the history ends with, while it is pending.
  struct Pending {
    CallId call = {};
    std::uint32_t reads_begin = 0;  // on the trail's stacks
    std::uint32_t fixed_begin = 0;
    std::uint32_t writes_begin = 0;
    std::uint32_t edges_begin = 0;
    std::uint32_t forced = 0;
    // With a strong rule: an order of the history's transactions that it allows, and for which
    // pending transaction facts_ was filled.
    std::uint32_t order_begin = 0;
    std::uint64_t facts = 0;
    Set past;
    Set read_from;
    KeyFilter written = {};            // keys that it may have written,
    std::uint32_t num_filtered = 0;    // with its first so many writes
    std::uint32_t num_superseded = 0;  // with sight: of its reads, those of superseded versions
    bool is_left_out = false;
  };

  // The pending transaction ends. Is it worth to look at what then is the history?
  virtual bool is_wanted() const { return true; }
  // The pending transaction has ended: its block is the last of the history. Explores what
  // follows, and leaves everything as it was.
  virtual void on_block() = 0;
  // The causal past that a transaction starts with besides its session: nothing.
  void begin(CallId call);
  // Continues the pending transaction in every way. Reads from `first_read` on are varied.
  void walk(std::size_t first_read, bool is_new);

  // Appends to `edges` what it forces that `reader` reads x from w. False if that cannot be.
  bool collect(const Reader<Set>& reader, ProgramKey x, CallId w,
               std::vector<ForcedEdges<Set>>& edges) const;
  bool add_edges(std::uint32_t forced, std::size_t edges_begin, std::size_t edges_end);
  // Is the history with the pending transaction possible by the strong rule? Before its end, only
  // its reads count: it may still abort.
  bool is_strongly_consistent(bool is_at_end);
  // Makes pending_ ready for the strong rule, once its history stands.
  void order_history();

  void register_block(BlockId block);
  void unregister_block(BlockId block);
  Set& writers(ProgramKey x);
  std::int64_t value(CallId w, ProgramKey x) const;
  std::uint32_t history_size() const {
    return static_cast<std::uint32_t>(trail_.order.size() - history_begin_);
  }
  const Entry& entry(std::uint32_t position) const {
    return trail_.order[history_begin_ + position];
  }
  const Block<Set>& block_at(std::uint32_t position) const {
    return trail_.blocks[entry(position).block];
  }
  const Set& past(CallId call) const { return trail_.blocks[block_of_[call]].past; }
  void report_end() {
    end_states_.on_end_state({trail_, std::span(trail_.order).subspan(history_begin_), path_});
  }
  // At every call of explore(): shall it return at once?
  bool is_over();
  void count_blocked() { control_.blocked.fetch_add(1, std::memory_order_relaxed); }

  // A piece of work, by words: at which length of the path calls of explore() count, the first
  // choice at the place to which the others, the prefix, lead. Choices of the prefix are taken
  // without alternatives, so all that is explored is behind it.
  void begin_piece(const Piece& piece);
  // May choice `number` be taken where the path is `depth` long?
  bool may_choose(std::size_t depth, std::uint32_t number) const {
    if (depth < prefix_.size()) return prefix_[depth] == number;
    return depth > prefix_.size() || number >= from_;
  }
  // The choices that follow the one taken at the open place `depth` go to others.
  void give_rest(std::size_t depth, std::uint32_t from);
  // Gives away the choices that are closest to the root.
  void split();
  // A place of the path that has further choices, other than a read.
  struct OpenChoice {
    std::uint32_t depth = 0;
    bool is_given = false;  // they are no longer ours
  };
  bool is_given() const { return open_.back().is_given; }
  void open_choice() {
    open_.push_back({narrow(path_.size()), path_.size() < prefix_.size()});
    path_.push_back(0);
  }
  void close_choice() {
    open_.pop_back();
    path_.pop_back();
  }

  const Executable& program_;
  const Rules rules_;
  EndStates<Set>& end_states_;
  Control& control_;
  Budget budget_;  // of this walk alone: threads share none
  std::unique_ptr<Executor> executor_;
  Remembering* remembered_;  // the same, if it remembers
  KeysOnPath keys_on_path_;
  std::uint32_t num_calls_;
  ById<CallId, Set> session_past_;  // its predecessors in so

  Path path_;
  Trail<Set> trail_;
  std::size_t history_begin_ = 0;  // of the history at hand, in trail_.order
  Pending pending_;
  Set present_;  // calls whose blocks are in the history
  ById<CallId, BlockId> block_of_;
  ById<ProgramKey, Set> writers_;  // who in the history commits a write to it
  bool wants_latest_ = false;      // does the engine ask for ReadEvent::latest?

 private:
  Path prefix_;  // of the piece
  std::uint32_t from_ = 0;
  std::size_t first_counted_ = 0;
  std::vector<OpenChoice> open_;

  bool extend();
  std::optional<Stop> go_on();
  bool passes(const Stop& stop);
  Block<Set> pending_block() const;
  void report_fault();
  bool backtrack(std::size_t first_read);
  void arrive_at_read(ProgramKey x);
  void leave_out_hidden(ReadEvent<Set>& read);
  bool take_valid_write(bool is_first);
  void put_back();
  void give_untried(ReadEvent<Set>& read);
  bool is_valid_write(CallId w);
  bool is_weakly_valid_write(CallId w);
  bool is_strongly_valid_write(CallId w);
  Latest shape_of_latest(const ReadEvent<Set>& read) const;
  void end_block(bool is_committed);
  const std::int64_t* own_write(ProgramKey x);
  bool will_write(ProgramKey x);
  bool is_superseded(ProgramKey x, CallId w) const {
    const Superseded& versions = superseded_[x];
    return w == kInitialWriter ? versions.is_initial : versions.writers.contains(w);
  }
  void supersede(const Block<Set>& block, bool is_added);
  bool will_lose_update();
  bool loses_update() const;
  bool is_parallel_possible(std::uint32_t forced);
  bool has_witness(const Block<Set>& block, bool is_left_out);
  void fill_facts();
  void add_forced(LinearFacts<Set>& facts, std::uint32_t forced);
  CallId last_writer(ProgramKey x) const;

  // A read of a key by a block of the history.
  struct Reading {
    CallId reader = {};
    CallId writer = kInitialWriter;
  };

  // With sight: versions of a key that were read by another writer of the key. Who writes the key,
  // too, reads none of them.
  struct Superseded {
    Set writers;
    bool is_initial = false;
  };
  ById<ProgramKey, Superseded> superseded_;
  ById<ProgramKey, std::int64_t> initial_;
  bool has_large_initial_ = false;   // is an initial value not small?
  std::size_t num_large_ = 0;        // writes in the history of values that are not small
  ById<ProgramKey, bool> is_fixed_;  // does no call ever write it?
  FixedKeys fixed_;
  ById<ProgramKey, std::vector<Reading>> readings_;  // with a strong rule
  // With a strong rule: what is known of the history without the pending transaction, and with it.
  LinearFacts<Set> history_facts_;
  LinearFacts<Set> facts_;
  std::uint64_t facts_of_ = 0;  // the pending transaction for which history_facts_ stands
  std::uint64_t num_facts_ = 0;
  Linearizer<Set> linearizer_;
  const TxnRules<Set> txn_rules_;
  std::optional<LevelWitness<Set>> witness_;  // with forcing rules
};

}  // namespace isoscope::explore
