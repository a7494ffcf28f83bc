#pragma once
// Pieces of an exploration, and the threads that work on them.
//
// A piece is a string of choices that leads from the root of the exploration to where a worker
// goes on; to start on it, an engine replays the choices. Whoever works on one splits it when a
// thread has nothing to do: it gives away choices that it has not taken yet, the ones closest to
// the root first, because most is behind those. So pieces can wait in a queue, travel to another
// process or lie in a file.
//
// Most pieces are independent of each other. A round of schedules.h is not: what follows it depends
// on what all its children have found. Then the children that were given away and the rest of the
// giver's work are joined: the last to arrive puts the rest back into the queue, with what all
// have added.
//
//     piece ──split──> child, child      rest ──arrives──┐
//                        └──arrive─────────┴──> join ────┴──> queue
//
// Draining makes workers put all that is left to do into the queue, so that the queue, the joins
// and the counters together are the exploration as it stands.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "explore/packing.h"

namespace isoscope::explore {

using JoinId = std::uint64_t;  // 0: none

// By depth: sessions that races have added to the node there.
using Added = std::vector<std::vector<std::uint32_t>>;

struct Piece {
  JoinId join = 0;  // to arrive at when it is done, with what was added above it
  Added added = {};
  std::vector<std::uint32_t> words = {};  // what it means, its engine knows
};

void pack(Packer& out, const Piece& piece);
Piece unpack_piece(Unpacker& in);

// Work arrives: a child that is done, or the rest of the giver's work.
struct Arrival {
  JoinId join = 0;
  Added added = {};
  std::optional<Piece> rest = {};
};

// A round whose children were given away.
struct Join {
  std::uint32_t num_missing = 0;  // who has not arrived yet
  Added added = {};
  std::optional<Piece> rest = {};
};

class Pool {
 public:
  // What a thread does with a piece.
  using Work = std::function<void(const Piece&)>;

  // Joins of processes are kept by one of them; the others tell it. Each names its own joins.
  Pool(unsigned threads, unsigned process, Work work);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // For those who work on a piece.
  bool is_hungry() const { return hunger_.load(std::memory_order_relaxed) > 0; }
  bool is_draining() const { return is_draining_.load(std::memory_order_relaxed); }
  void give(Piece piece);
  JoinId open_join(std::uint32_t num_parts);
  void arrive(Arrival arrival);

  // For the one who leads. What is to be told to the keeper of joins, and how we stand after it.
  struct Opened {
    JoinId join = 0;
    std::uint32_t num_parts = 0;
  };
  struct News {
    std::vector<Opened> opened;
    std::vector<Arrival> arrivals;
    std::vector<Piece> to_others;  // that others asked for
    unsigned num_idle = 0;         // threads
    bool is_idle = false;          // no worker works, and nothing waits
  };
  // Waits until all workers are idle or `limit` is over.
  void wait(std::chrono::microseconds limit);
  News news();
  // Others ask for so many pieces.
  void want(unsigned num_pieces);
  unsigned num_wanted() const;
  std::optional<Piece> take();
  // From now on no piece is begun, and those that are worked on are put back; or again as usual.
  void drain();
  void go_on();
  bool is_drained() const;
  void put_join(JoinId id, Join join);
  // All that waits, after draining.
  void pack_all(Packer& out) const;
  bool unpack_all(Unpacker& in);
  // Joins of this time and of an earlier one, from a file, must not be confused.
  std::uint32_t epoch() const { return epoch_; }
  void set_epoch(std::uint32_t epoch) { epoch_ = epoch; }

 private:
  void work_off();
  void push(Piece piece);
  void arrive_here(Arrival arrival);
  void update();

  const unsigned num_threads_;
  const unsigned process_;
  const Work work_;
  mutable std::mutex mutex_;
  std::condition_variable for_threads_;
  std::condition_variable for_leader_;
  std::deque<Piece> queue_;
  std::map<JoinId, Join> joins_;
  News news_;
  unsigned num_running_ = 0;
  unsigned num_wanted_ = 0;
  std::uint32_t num_joins_ = 0;
  std::atomic<std::uint32_t> epoch_{0};
  bool is_closing_ = false;
  std::atomic<bool> is_draining_{false};
  std::atomic<std::int64_t> hunger_{0};
  std::vector<std::thread> threads_;
};

}  // namespace isoscope::explore
