#pragma once
// An executor that remembers what transactions did, and runs nothing twice.
//
// What a call does next depends only on the answers to its reads. So its stops are kept as a tree:
// behind a read there is a branch for each answer that was ever given. An engine that returns to a
// read again and again, with one of few values, then walks through the tree; only a new branch is
// executed, by the executor inside. The state of a call is its place in the tree.
//
//     read x ──0── read y ──0── write y 1 ── commit
//        │            └──1── abort
//        └──1── write x 2 ── commit
//
// Cost  Some nanoseconds a stop, instead of thirty and the instructions between. Memory is bounded:
//       when the tree is full, what is not in it is executed each time.
#include <memory>

#include "program/outlook.h"
#include "program/program.h"

namespace isoscope {

// Some megabytes.
inline constexpr std::size_t kMostRememberedStops = 100'000;

class Remembering : public Executor {
 public:
  // At a read that has not been answered: what will surely follow. Null elsewhere.
  virtual const Outlook* outlook() = 0;
};

// Of an executor of the program's code: its machine, perhaps without vain reads.
std::unique_ptr<Remembering> remembering(const Program& program, std::unique_ptr<Executor> executor,
                                         std::size_t most_stops = kMostRememberedStops);

}  // namespace isoscope
