#pragma once
// The histories on the path from the root of an exploration to where it stands.
//
// A history is a row of blocks, one a transaction, in history order <. Only the last may be
// pending, so < on events is < on blocks. A finished block never changes and is shared by all
// histories on the path that contain it. Everything lives on stacks: whoever goes deeper takes a
// mark and, on the way back, cuts the stacks to it.
//
//     order    t1 t2 t3 │ t1 t3            the history below a swap, above it the one it came from
//     blocks   t1 t2 t3 …                  each with its range of reads, writes, forced edges
//     reads    r(x) r(y) │ r(x) …          each with the executor's state before it (`locals`)
//     fixed    r(c) │ …                    reads that are no choice, which cost next to nothing
//
// Memory is polynomial in the size of the program [BouajjaniEneaRoman-PLDI'23, section 5.4]:
// a block costs its accesses, a swap the accesses before the swapped read.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "program/executable.h"
#include "store/recording.h"

namespace isoscope::explore {

// A position in the trail: its tables are smaller than 2^32.
inline std::uint32_t narrow(std::size_t size) { return static_cast<std::uint32_t>(size); }

using store::kInitialWriter;

// What the read of a block forces: every member of `from` commits before `to`.
template <class Set>
struct ForcedEdges {
  Set from;
  CallId to = {};
};

// Does a read show the latest valid writer in its causal past (the paper's readLatest)? That may
// depend on what else is in the history.
enum class Latest : std::uint8_t { No, Yes, Depends };

template <class Set>
struct ReadEvent {
  ProgramKey key;
  CallId writer = kInitialWriter;
  Latest latest = Latest::No;
  bool is_swapped = false;  // did a swap put it behind its writer?
  // Do this read and those before it in the transaction show the last writes of the order that the
  // linearizer found? Then the transaction may come last.
  bool is_current = false;
  bool is_overwritten = false;       // will the transaction surely commit and write the key?
  std::uint32_t num_superseded = 0;  // of the reads before it: see walk.h
  // Choices not yet taken: writers, and the initial transaction.
  bool is_initial_untried = false;
  Set untried;
  // The transaction just before this read: its causal past and whom it had read from.
  Set past;
  Set read_from;
  // And the stacks: how far its writes, fixed reads and edges went, its executor's state, its
  // forced order.
  std::uint32_t writes_end = 0;
  std::uint32_t fixed_end = 0;
  std::uint32_t edges_end = 0;
  std::uint32_t state_begin = 0;
  std::uint32_t state_end = 0;
  std::uint32_t forced = 0;
  // The length of the walk's path before its choice of a writer.
  std::uint32_t path_end = 0;
};

using BlockId = Id<struct BlockTag>;  // on the trail: a transaction as it ended on this path

template <class Set>
struct Block {
  CallId call = {};
  bool is_committed = false;
  std::uint32_t reads_begin = 0;
  std::uint32_t reads_end = 0;
  std::uint32_t fixed_begin = 0;
  std::uint32_t fixed_end = 0;
  std::uint32_t writes_begin = 0;
  std::uint32_t writes_end = 0;
  std::uint32_t edges_begin = 0;
  std::uint32_t edges_end = 0;
  std::uint32_t locals_begin = 0;
  std::uint32_t locals_end = 0;
  std::optional<AssertionId> failed_assertion;
  Set past;       // (so ∪ wr)+, without T0
  Set read_from;  // wr, without T0
  Set rivals;     // with sight: who before it in the history commits a write to a key of its own
};

// A block in a history, and the forced order of the history up to it.
struct Entry {
  BlockId block = {};
  std::uint32_t forced = 0;
};

template <class Set>
struct Trail {
  explicit Trail(std::uint32_t num_calls) : num_calls_(num_calls), rows_(num_calls) {}

  struct Mark {
    std::size_t blocks, reads, fixed, writes, edges, numbers, order, rows;
  };
  Mark mark() const {
    return {blocks.size(), reads.size(),   fixed.size(), writes.size(),
            edges.size(),  numbers.size(), order.size(), rows_.size()};
  }
  void cut(const Mark& to) {
    blocks.resize(to.blocks);
    reads.resize(to.reads);
    fixed.resize(to.fixed);
    writes.resize(to.writes);
    edges.resize(to.edges);
    numbers.resize(to.numbers);
    order.resize(to.order);
    rows_.resize(to.rows);
  }

  // Forced orders, by number; 0 is the empty one. A copy goes to the top of the stack.
  std::span<Set> forced(std::uint32_t number) {
    return {rows_.data() + std::size_t{number} * num_calls_, num_calls_};
  }
  std::uint32_t copy_forced(std::uint32_t number) {
    const std::size_t from = std::size_t{number} * num_calls_;
    rows_.resize(rows_.size() + num_calls_);
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(from), num_calls_,
                rows_.end() - static_cast<std::ptrdiff_t>(num_calls_));
    return static_cast<std::uint32_t>(rows_.size() / num_calls_ - 1);
  }
  // Drops all forced orders after this one.
  void cut_forced(std::uint32_t number) { rows_.resize((std::size_t{number} + 1) * num_calls_); }

  std::span<const WriteEvent> writes_of(const Block<Set>& b) const {
    return std::span(writes).subspan(b.writes_begin, b.writes_end - b.writes_begin);
  }
  std::span<const ReadEvent<Set>> reads_of(const Block<Set>& b) const {
    return std::span(reads).subspan(b.reads_begin, b.reads_end - b.reads_begin);
  }
  std::span<const FixedRead> fixed_of(const Block<Set>& b) const {
    return std::span(fixed).subspan(b.fixed_begin, b.fixed_end - b.fixed_begin);
  }
  // Tells `f(key, writer, num_writes)` all external reads of the block in program order, each with
  // the number of the block's writes before it.
  template <class F>
  void for_each_read(const Block<Set>& b, F&& f) const {
    std::uint32_t next = b.fixed_begin;
    const auto add_fixed = [&](std::uint32_t up_to) {
      for (; next < up_to; ++next) f(fixed[next].key, kInitialWriter, fixed[next].num_writes);
    };
    for (const ReadEvent<Set>& read : reads_of(b)) {
      add_fixed(read.fixed_end);
      f(read.key, read.writer, read.writes_end - b.writes_begin);
    }
    add_fixed(b.fixed_end);
  }
  std::span<const std::int64_t> locals_of(const Block<Set>& b) const {
    return std::span(numbers).subspan(b.locals_begin, b.locals_end - b.locals_begin);
  }

  ById<BlockId, Block<Set>> blocks;
  std::vector<ReadEvent<Set>> reads;
  std::vector<FixedRead> fixed;
  std::vector<WriteEvent> writes;
  std::vector<ForcedEdges<Set>> edges;
  std::vector<std::int64_t> numbers;  // states of executors, and locals at the end of blocks
  std::vector<Entry> order;

 private:
  std::size_t num_calls_;
  std::vector<Set> rows_;
};

}  // namespace isoscope::explore
