#pragma once
// An executor that remembers what transactions did, and runs nothing twice.
//
// What a call does next depends only on the answers to its reads. Most stops are no choices:
// writes, reads of own writes, reads of keys that no call ever writes. What happens from one choice
// to the next is a segment, and segments are kept as a tree: behind a read that is a choice there
// is a branch for each answer that was ever given. An engine that returns to a read again and
// again, with one of few values, then walks through the tree; only a new branch is executed, by the
// executor inside. The state of a call is its place in the tree.
//
//     read x ──0── [write z 1] read y ──0── [write y 1, read z] commit
//        │                        └──1── [] abort
//        └──1── [write x 2] commit
//
// Which reads are choices is up to the engine, which answers the others:
//
//     executor->start(call);
//     for (;;) {
//       if (auto known = executor->known()) { … go on at known->stop … }
//       … run() and answer() up to the next choice or end, then learn() what that was
//
// Cost  A look-up and a copy per segment, instead of executing its stops. Memory is bounded: when
//       the tree is full, what is not in it is executed each time.
#include <memory>
#include <optional>

#include "program/outlook.h"
#include "program/program.h"

namespace isoscope {

// Some megabytes.
inline constexpr std::size_t kMostRememberedBytes = 8'000'000;

// What a call does from one choice to the next.
struct Segment {
  std::span<const WriteEvent> writes = {};
  std::span<const FixedRead> fixed = {};
  Stop stop = {};  // a read that is a choice, an end or a fault
};

class Remembering : public Executor {
 public:
  // What follows the start of the call, or the answer to the last choice, if it has happened
  // before; the executor then stands at its end. Valid until the next call of learn().
  // Otherwise nothing, and run() executes it.
  virtual std::optional<Segment> known() = 0;
  // What has been executed since known() said nothing.
  virtual void learn(const Segment& segment) = 0;
  // At a choice that has not been answered: what will surely follow. Null elsewhere, and where the
  // transaction has written a number that is not small.
  virtual const Outlook* outlook() = 0;
};

// Of an executor of the program's code: its machine, perhaps without unused reads.
std::unique_ptr<Remembering> remembering(const Program& program, std::unique_ptr<Executor> executor,
                                         std::size_t most_bytes = kMostRememberedBytes);

}  // namespace isoscope
