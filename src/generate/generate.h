#pragma once
// Synthetic histories: what clients would have logged, had they talked to a store that runs at a
// given level.
//
// Sessions draw transactions from a workload (sizes, keys, shape), a simulated store answers the
// reads, and what commits is the history. Nothing is invented afterwards, so the history satisfies
// the level by construction; and since the store takes every liberty that its level leaves, under
// contention it does not satisfy the next level up:
//
//     ser   one transaction after the other                                    store_serial.cpp
//     si    snapshot at the begin, the first committer of a key wins           store_snapshot.cpp
//     pc    the same without that conflict check: updates get lost
//     psi   replicas, causal delivery; a commit has seen what it overwrites    store_replicated.cpp
//     cc    replicas, causal delivery, the last writer wins
//     ra    replicas, transactions delivered whole, but in any order
//     rc    a read takes what is committed at that very moment store_read_committed.cpp
//
// An anomaly can be injected (generate/injection.h): a few transactions on fresh keys, at a moment
// when nothing is open and all replicas agree. It breaks the level that its table entry names and
// what implies it, and leaves alone the others that the store's level implies.
//
// Written values count up from 1 and never repeat; every key is initially 0. The same plan gives
// the same transactions, on every machine whose C library computes the same log and exp.
//
// Cost  O(1) an operation, whatever the number of keys; memory for the keys written so far (once a
//       replica) and for the open transactions. Nothing of the history itself is kept.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "formats/plain_txn.h"
#include "history/history.h"
#include "support/budget.h"
#include "support/result.h"
#include "verdict/logic.h"

namespace isoscope {

// The levels that a store can be simulated at.
inline constexpr std::array kStoreLevels = {Logic::Ser, Logic::Si, Logic::Psi, Logic::Pc,
                                            Logic::Cc,  Logic::Ra, Logic::Rc};

enum class KeyDistribution : std::uint8_t {
  Uniform,
  Zipf,  // the k-th most popular key is drawn with a probability proportional to 1 / k^theta
  Hot,   // four fifths of the draws go to one fifth of the keys
};
inline constexpr std::array kKeyDistributions = {KeyDistribution::Uniform, KeyDistribution::Zipf,
                                                 KeyDistribution::Hot};
std::string_view name_of(KeyDistribution distribution);  // uniform, zipf, hot

enum class TxnShape : std::uint8_t {
  Mixed,  // every operation is a read or a write, by read_share
  Rmw,    // every write follows a read of its key; read_share of the reads stay without a write
  Split,  // a transaction only reads, with probability read_share, or only writes
};
inline constexpr std::array kTxnShapes = {TxnShape::Mixed, TxnShape::Rmw, TxnShape::Split};
std::string_view name_of(TxnShape shape);  // mixed, rmw, split

struct HistoryPlan {
  Logic level = Logic::Ser;  // one of kStoreLevels
  std::uint32_t sessions = 50;
  std::uint64_t txns = 1000;  // committed ones; an injected anomaly adds its own to them
  std::uint32_t ops = 8;      // a transaction
  bool vary = false;          // sizes are then exponentially distributed, with mean `ops`
  std::uint32_t keys = 1000;
  double read_share = 0.5;
  KeyDistribution distribution = KeyDistribution::Uniform;
  double theta = 0.99;  // of Zipf; the habit of YCSB
  TxnShape shape = TxnShape::Mixed;
  std::uint32_t replicas = 4;  // of psi, cc and ra; session s talks to replica s mod replicas
  double lag = 4;              // mean number of transactions of a replica between two catch-ups
  bool log_aborted = false;    // should aborted transactions be part of the history?
  std::string inject = {};     // an anomaly by name; empty for none
  double inject_at = 0.5;      // after this share of the transactions
  std::uint64_t seed = 1;
};

// Does the plan make sense? Errors say what to change.
Result<void> validate(const HistoryPlan& plan);

// Takes the transactions in an order that contains session order.
using TxnSink = std::function<void(const PlainTxn&)>;

struct GeneratedSizes {
  std::uint64_t committed = 0;  // with injected ones
  std::uint64_t aborted = 0;    // logged or not
  std::uint64_t events = 0;     // handed out
  bool complete = true;         // false if the budget expired first
};

// Runs the plan and hands every finished transaction to the sink.
Result<GeneratedSizes> generate_txns(const HistoryPlan& plan, const TxnSink& sink,
                                     Budget budget = {});

// The same as a History: sessions, keys and values are numbers, transactions are T1, T2, ….
// A limit_error if the budget expires first.
Result<History> generate_history(const HistoryPlan& plan, Budget budget = {});

}  // namespace isoscope
