#pragma once
// Random small histories for differential tests, in a form that can be shrunk and printed.
//
// A hidden serial order decides what most reads see, so that a good part of the histories is
// consistent with strong levels; the other reads see any committed writer. Reads always name a
// committed final write (or T0): no history has faults.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "history/builder.h"
#include "history/history.h"
#include "support/rng.h"

namespace isoscope {

struct RandomShape {
  int sessions = 3;
  int max_txns = 5;  // 1 … max_txns, besides T0
  int keys = 2;      // 1 … keys
  int max_ops = 3;   // 1 … max_ops a transaction
  double aborted = 0.05;
  double reads = 0.55;
  double stray = 0.35;                   // share of reads that ignore the hidden order
  std::vector<std::string> levels = {};  // if any: a transaction may get one of its own
  bool times = false;                    // do transactions have times, near the hidden order?
};

struct SmallOp {
  bool is_write = false;
  int key = 0;
  int writer = -1;  // of a read: the transaction's position, -1 for T0
};

struct SmallTxn {
  int session = 0;
  bool aborted = false;
  std::vector<SmallOp> ops = {};
  std::string level = {};
  std::optional<TxnTimes> times = {};
};

struct SmallHistory {
  std::vector<SmallTxn> txns;
};

inline bool writes_key(const SmallTxn& txn, int key) {
  return std::any_of(txn.ops.begin(), txn.ops.end(),
                     [&](const SmallOp& op) { return op.is_write && op.key == key; });
}

// `Random` is Rng or Choices, here and below.
template <class Random>
SmallHistory random_small(Random& rng, const RandomShape& shape) {
  const auto up_to = [&](int n) {
    return static_cast<int>(rng.below(static_cast<std::uint64_t>(n))) + 1;
  };
  SmallHistory small;
  const int keys = up_to(shape.keys);
  const int sessions = up_to(shape.sessions);
  small.txns.resize(static_cast<std::size_t>(up_to(shape.max_txns)));
  for (SmallTxn& txn : small.txns) {
    txn.session = up_to(sessions) - 1;
    txn.aborted = rng.chance(shape.aborted);
    if (!shape.levels.empty() && rng.chance(0.5))
      txn.level = shape.levels[rng.below(shape.levels.size())];
    txn.ops.resize(static_cast<std::size_t>(up_to(shape.max_ops)));
    for (SmallOp& op : txn.ops) op = {!rng.chance(shape.reads), up_to(keys) - 1, -1};
    if (shape.times && !rng.chance(0.1)) {
      const std::int64_t middle = 3 * (&txn - small.txns.data());
      const std::int64_t start = middle - up_to(6);
      txn.times = TxnTimes{.start = start, .end = start + up_to(6) - 1};
      if (rng.chance(0.1)) txn.times->end = TxnTimes::kOpen;
    }
  }
  for (std::size_t t = 0; t < small.txns.size(); ++t) {
    for (SmallOp& op : small.txns[t].ops) {
      std::vector<int> writers = {-1};
      for (std::size_t u = 0; u < small.txns.size(); ++u) {
        if (u != t && !small.txns[u].aborted && writes_key(small.txns[u], op.key))
          writers.push_back(static_cast<int>(u));
      }
      if (rng.chance(shape.stray)) {
        op.writer = writers[rng.below(writers.size())];
      } else {  // the latest earlier writer in file order
        for (int u : writers) {
          if (u < static_cast<int>(t)) op.writer = u;
        }
      }
    }
  }
  return small;
}

// Writers of several keys and readers that see any of them: what separates pc and si from cc and
// psi is rare among other histories.
template <class Random>
SmallHistory near_long_fork(Random& rng) {
  SmallHistory small;
  for (int key = 0; key < 2; ++key) {
    small.txns.push_back({.session = key, .ops = {{true, key, -1}}});
    if (rng.chance(0.2)) small.txns.back().ops.push_back({true, 1 - key, -1});
  }
  for (int i = 0; i < 2; ++i) {
    SmallTxn reader{.session = rng.chance(0.8) ? 2 + i : static_cast<int>(rng.below(4))};
    for (int key = 0; key < 2; ++key) {
      std::vector<int> writers = {-1};
      for (int u = 0; u < 2; ++u) {
        if (writes_key(small.txns[static_cast<std::size_t>(u)], key)) writers.push_back(u);
      }
      reader.ops.push_back({false, key, writers[rng.below(writers.size())]});
    }
    if (rng.chance(0.2)) reader.ops.push_back({true, static_cast<int>(rng.below(3)), -1});
    small.txns.push_back(std::move(reader));
  }
  return small;
}

// The history; values are 1, 2, … in file order, so that reads can be resolved by value too.
inline History build(const SmallHistory& small) {
  HistoryBuilder b(InitialValues::Zero);
  std::vector<TxnId> ids;
  for (std::size_t t = 0; t < small.txns.size(); ++t) {
    const SmallTxn& txn = small.txns[t];
    const auto line = static_cast<std::uint32_t>(t + 1);
    ids.push_back(b.begin(b.session(fmt::format("s{}", txn.session + 1)),
                          txn.aborted ? TxnStatus::Aborted : TxnStatus::Committed, {line, 1}));
    if (!txn.level.empty()) b.set_level(ids.back(), txn.level);
    if (txn.times) b.set_times(ids.back(), *txn.times);
  }
  std::int64_t value = 0;
  for (std::size_t t = 0; t < small.txns.size(); ++t) {
    const SmallTxn& txn = small.txns[t];
    std::uint32_t column = 1;
    for (std::size_t i = 0; i < txn.ops.size(); ++i) {
      const SmallOp& op = txn.ops[i];
      const KeyId key = b.key(fmt::format("k{}", op.key));
      const Place place{static_cast<std::uint32_t>(t + 1), ++column};
      const bool own =
          std::any_of(txn.ops.begin(), txn.ops.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const SmallOp& o) { return o.is_write && o.key == op.key; });
      if (op.is_write) {
        b.write(ids[t], key, Value::of(++value), place);
      } else {
        b.read_from(ids[t], key,
                    fmt::format("T{}", own ? t + 1 : static_cast<std::size_t>(op.writer + 1)),
                    place);
      }
    }
  }
  auto h = std::move(b).build();
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

// The same history in our text format, to be pasted into a regression file.
inline std::string to_hist(const SmallHistory& small) {
  std::string out;
  int value = 0;
  for (std::size_t t = 0; t < small.txns.size(); ++t) {
    const SmallTxn& txn = small.txns[t];
    out += fmt::format("s{}: [", txn.session + 1);
    std::vector<int> own;
    for (const SmallOp& op : txn.ops) {
      if (&op != &txn.ops.front()) out += ' ';
      if (op.is_write) {
        out += fmt::format("w(k{},{})", op.key, ++value);
        own.push_back(op.key);
      } else {
        const bool internal = std::find(own.begin(), own.end(), op.key) != own.end();
        out += fmt::format("r(k{},@T{})", op.key,
                           internal ? t + 1 : static_cast<std::size_t>(op.writer + 1));
      }
    }
    out += txn.aborted ? "]!" : "]";
    if (txn.times)
      out += txn.times->end == TxnTimes::kOpen
                 ? fmt::format("<{},>", txn.times->start)
                 : fmt::format("<{},{}>", txn.times->start, txn.times->end);
    if (!txn.level.empty()) out += "@" + txn.level;
    out += '\n';
  }
  return out;
}

// Without transaction `gone`; what was read from it is read no more.
inline SmallHistory without_txn(SmallHistory small, std::size_t gone) {
  small.txns.erase(small.txns.begin() + static_cast<std::ptrdiff_t>(gone));
  for (SmallTxn& txn : small.txns) {
    std::erase_if(txn.ops, [&](const SmallOp& op) {
      return !op.is_write && op.writer == static_cast<int>(gone);
    });
    for (SmallOp& op : txn.ops) {
      if (op.writer > static_cast<int>(gone)) --op.writer;
    }
  }
  return small;
}

inline bool is_well_formed(const SmallHistory& small) {
  for (const SmallTxn& txn : small.txns) {
    for (const SmallOp& op : txn.ops) {
      if (op.is_write || op.writer < 0) continue;
      const SmallTxn& writer = small.txns[static_cast<std::size_t>(op.writer)];
      if (writer.aborted || !writes_key(writer, op.key)) return false;
    }
  }
  return true;
}

// A smaller history that still fails, by leaving out transactions and operations one at a time.
inline SmallHistory shrink(SmallHistory small,
                           const std::function<bool(const SmallHistory&)>& fails) {
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t t = 0; t < small.txns.size() && !progress; ++t) {
      SmallHistory candidate = without_txn(small, t);
      if (is_well_formed(candidate) && fails(candidate)) {
        small = std::move(candidate);
        progress = true;
        break;
      }
      for (std::size_t i = 0; i < small.txns[t].ops.size() && !progress; ++i) {
        candidate = small;
        auto& ops = candidate.txns[t].ops;
        ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
        if (is_well_formed(candidate) && fails(candidate)) {
          small = std::move(candidate);
          progress = true;
        }
      }
    }
  }
  return small;
}

template <class Random>
History random_history(Random& rng, const RandomShape& shape) {
  return build(random_small(rng, shape));
}

}  // namespace isoscope
