#pragma once
// Lists all small histories without a solver: the oracle of the search.
//
// A history is drawn literally: who precedes whom in a session, then for every key and transaction
// whether it writes the key, and from whom it reads it. Sessions are chains. Nothing is left out by
// symmetry, so that each history comes under all its names.
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
};

inline History build(const DrawnHistory& d) {
  HistoryBuilder b(InitialValues::Zero);
  for (int t = 0; t < d.txns; ++t) {
    const auto ti = static_cast<std::size_t>(t);
    const TxnId id =
        b.begin(b.session("s" + std::to_string(d.session[ti])), TxnStatus::Committed, {});
    for (int x = 0; x < d.keys; ++x) {
      const int from = d.reads[ti][static_cast<std::size_t>(x)];
      if (from >= 0) b.read(id, b.key("k" + std::to_string(x)), Value::of(from), {});
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
  DrawnHistory d{scope.txns, scope.keys, {}, {}, {}};
  const auto n = static_cast<std::size_t>(scope.txns);
  const auto k = static_cast<std::size_t>(scope.keys);
  d.session.assign(n, 0);
  d.writes.assign(n, std::vector<char>(k, 0));
  d.reads.assign(n, std::vector<int>(k, -1));
  const auto is_in_scope = [&] {
    for (std::size_t x = 0; x < k; ++x) {
      int writers = 0;
      for (std::size_t t = 0; t < n; ++t) {
        writers += d.writes[t][x];
        if (!scope.blind_writes && d.writes[t][x] != 0 && d.reads[t][x] < 0) return false;
        const int from = d.reads[t][x];
        if (from > 0 && (static_cast<std::size_t>(from - 1) == t ||
                         d.writes[static_cast<std::size_t>(from - 1)][x] == 0))
          return false;
      }
      if (scope.values > 0 && writers >= scope.values) return false;
    }
    for (std::size_t t = 0; t < n; ++t) {
      int operations = 0;
      for (std::size_t x = 0; x < k; ++x)
        operations += d.writes[t][x] + (d.reads[t][x] >= 0 ? 1 : 0);
      if (operations == 0 && !scope.empty_txns) return false;
      if (scope.ops > 0 && operations > scope.ops) return false;
    }
    return true;
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
        draw_operation(cell + 1);
      }
    }
  };
  // Sessions as restricted growth strings; the order within a session is that of the numbers, and
  // the operations take all names.
  const std::function<void(std::size_t, int)> draw_session = [&](std::size_t t, int sessions) {
    if (t == n) {
      draw_operation(0);
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
