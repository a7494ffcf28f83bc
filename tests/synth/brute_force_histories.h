#pragma once
// Lists all small histories without a solver: the oracle of the search.
//
// A history is drawn literally: who precedes whom in a session, then for every key and transaction
// whether it writes the key, and from whom it reads it. Sessions are chains. Nothing is left out by
// symmetry, so that each history comes under all its names.
//
// A scope with `aborted_txns` has histories with aborted transactions, too, and one with
// `repeated_reads` those in which a transaction reads a key from several writers.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "history/builder.h"
#include "synth/synth.h"

namespace isoscope {

struct DrawnHistory {
  int txns = 0;
  int keys = 0;
  std::vector<int> session;               // by transaction, from 0
  std::vector<std::vector<char>> writes;  // by transaction and key
  std::vector<std::vector<int>> reads;    // the writer: 0 for T0, t+1 for transaction t; -1: none
  std::vector<std::vector<int>> again;    // further writers, after the first: bits of their numbers
  std::vector<char> aborted;              // by transaction

  bool is_wide() const {
    for (const auto& row : again) {
      if (std::any_of(row.begin(), row.end(), [](int more) { return more != 0; })) return true;
    }
    return false;
  }
  bool has_aborted() const {
    return std::find(aborted.begin(), aborted.end(), '\1') != aborted.end();
  }
};

// Calls `visit` for the writers from which a transaction reads a key.
template <class Visit>
void for_each_writer(const DrawnHistory& d, std::size_t t, std::size_t x, const Visit& visit) {
  if (d.reads[t][x] < 0) return;
  visit(d.reads[t][x]);
  for (int from = 0; from <= d.txns; ++from) {
    if ((d.again[t][x] >> from & 1) != 0) visit(from);
  }
}

// With times, if they are given, by transaction.
inline History build(const DrawnHistory& d, const std::vector<TxnTimes>& times = {}) {
  HistoryBuilder b(InitialValues::Zero);
  for (int t = 0; t < d.txns; ++t) {
    const auto ti = static_cast<std::size_t>(t);
    const TxnId id = b.begin(b.session("s" + std::to_string(d.session[ti])),
                             d.aborted[ti] != 0 ? TxnStatus::Aborted : TxnStatus::Committed, {});
    if (!times.empty()) b.set_times(id, times[ti]);
    for (int x = 0; x < d.keys; ++x) {
      for_each_writer(d, ti, static_cast<std::size_t>(x), [&](int from) {
        b.read(id, b.key("k" + std::to_string(x)), Value::of(from), {});
      });
    }
    for (int x = 0; x < d.keys; ++x) {
      if (d.writes[ti][static_cast<std::size_t>(x)] != 0)
        b.write(id, b.key("k" + std::to_string(x)), Value::of(t + 1), {});
    }
  }
  return *std::move(b).build();
}

// Calls `visit` for each history of the scope; within a session, transactions ascend.
inline void for_each_history(const Scope& scope,
                             const std::function<void(const DrawnHistory&)>& visit) {
  DrawnHistory d{scope.txns, scope.keys, {}, {}, {}, {}, {}};
  const auto n = static_cast<std::size_t>(scope.txns);
  const auto k = static_cast<std::size_t>(scope.keys);
  d.session.assign(n, 0);
  d.writes.assign(n, std::vector<char>(k, 0));
  d.reads.assign(n, std::vector<int>(k, -1));
  d.again.assign(n, std::vector<int>(k, 0));
  d.aborted.assign(n, 0);
  const auto is_in_scope = [&] {
    for (std::size_t x = 0; x < k; ++x) {
      int writers = 0;
      for (std::size_t t = 0; t < n; ++t) {
        writers += d.writes[t][x];
        if (!scope.blind_writes && d.writes[t][x] != 0 && d.reads[t][x] < 0) return false;
        if (d.aborted[t] != 0 && d.writes[t][x] != 0) return false;
        bool is_written = true;
        for_each_writer(d, t, x, [&](int from) {
          if (from > 0 && (static_cast<std::size_t>(from - 1) == t ||
                           d.writes[static_cast<std::size_t>(from - 1)][x] == 0))
            is_written = false;
        });
        if (!is_written) return false;
      }
      if (scope.values > 0 && writers >= scope.values) return false;
    }
    for (std::size_t t = 0; t < n; ++t) {
      int operations = 0;
      for (std::size_t x = 0; x < k; ++x) {
        operations += d.writes[t][x];
        for_each_writer(d, t, x, [&](int) { ++operations; });
      }
      if (operations == 0 && !scope.empty_txns) return false;
      if (scope.ops > 0 && operations > scope.ops) return false;
    }
    return std::find(d.aborted.begin(), d.aborted.end(), '\0') != d.aborted.end();
  };
  const std::function<void(std::size_t)> draw_operation = [&](std::size_t cell) {
    if (cell == n * k) {
      if (is_in_scope()) visit(d);
      return;
    }
    const std::size_t t = cell / k;
    const std::size_t x = cell % k;
    for (const char write : {'\0', '\1'}) {
      for (int from = -1; from <= scope.txns; ++from) {
        d.writes[t][x] = write;
        d.reads[t][x] = from;
        const int later = scope.repeated_reads && from >= 0 ? scope.txns - from : 0;
        for (int more = 0; more < 1 << later; ++more) {
          d.again[t][x] = more << (from + 1);
          draw_operation(cell + 1);
        }
      }
    }
  };
  // Sessions as restricted growth strings; the order within a session is that of the numbers, and
  // the operations take all names.
  const std::function<void(std::size_t, int)> draw_session = [&](std::size_t t, int sessions) {
    if (t == n) {
      for (int aborted = 0; aborted < (scope.aborted_txns ? 1 << n : 1); ++aborted) {
        for (std::size_t u = 0; u < n; ++u) d.aborted[u] = static_cast<char>(aborted >> u & 1);
        draw_operation(0);
      }
      return;
    }
    for (int s = 0; s <= sessions; ++s) {
      d.session[t] = s;
      draw_session(t + 1, std::max(sessions, s + 1));
    }
  };
  draw_session(0, 0);
}

}  // namespace isoscope
