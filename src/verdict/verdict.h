#pragma once
// What a check of a history answers: an outcome, and the reason to believe it.
//
//   Consistent   a Witness: orders that make every axiom true
//   Violated     a Violation: a read that nothing excuses, or a cycle of edges that each order
//                would have to contain, or else the transactions that no order can serve
//   Unknown      the limit that was hit
//
// verdict/confirm.h checks both kinds of reason without help from the engine that gave them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/execution.h"
#include "verdict/anomaly.h"
#include "verdict/answer.h"

namespace isoscope {

enum class EdgeKind : std::uint8_t { So, Wr, Ww, Rw, Co, Vis, Ar, Rt };
std::string_view name_of(EdgeKind kind);  // so wr ww rw co vis ar rt

// One step of an explanation: `from` comes before `to`, because …
//
//   so   of session order.
//   rt   `from` ended before `to` began.
//   wr   `read`, an external read of `key` in `to`, names `from` as its writer.
//   ww   both write `key`, and `from` comes first:
//          a fact      `path` and `read` empty: from is T0, or a list's version order says so;
//          ordered     `path` leads from `from` to `to`: the opposite would close a cycle;
//          overtaken   `read`, of `key`, reads from `to`, and `path` leads from `from` to the
//                      transaction of `read` (it is empty when `from` is that transaction):
//                      were `to` first, the read would have missed `from`, which it sees.
//   co   forced commit order of a weak level: like ww, overtaken; `path` is what the level lets
//        t3 see of `from` (so or wr; a path of them for cc; an earlier read for rc).
//   rw   `from` reads `key` in `read` from a writer that `to` overwrites: `path` is the ww edge
//        from that writer to `to`, or empty if the writer is T0.
//
// Over co, snap an edge joins points: the commit of a transaction, or the snapshot of one of its
// statements, which `from_statement` and `to_statement` name. Where an edge arrives at a snapshot
// and the next one leaves from a later snapshot or the commit of the same transaction, that step
// goes without saying. There
//   so   `to`, or its snapshot, comes after what its session did before;
//   wr   `read` shows `from`: its snapshot (of a current read: its commit, or the next) is later;
//   ww   both write `key` or a common row, `from` first, so the snapshot of `to` has it;
//   co   both lock a common row (that of `key`), `from` first; `to` waited, and sees it from then
//   on; rw   `read`, a read of `from`, missed what `to` wrote: its snapshot (or its commit) comes
//   before.
struct Edge {
  static constexpr std::uint32_t kCommit = 0xffffffffU;
  TxnId from;
  TxnId to;
  EdgeKind kind = EdgeKind::So;
  KeyId key = KeyId::none();
  EventId read = EventId::none();
  std::vector<Edge> path = {};
  std::uint32_t from_statement = kCommit;
  std::uint32_t to_statement = kCommit;
};

struct Violation {
  std::string axiom = {};           // of the level that was checked; empty if no axiom is to blame
  Anomaly anomaly = Anomaly::None;  // the shape's common name
  std::vector<Edge> cycle = {};     // edge i leads to where edge i+1 starts; the last closes it
  std::optional<ReadFault> fault = {};  // set, and cycle empty, if a read is inexcusable
  // Set if no cycle of forced edges exists: these transactions alone admit no order.
  std::vector<TxnId> core = {};
};

struct Verdict : Answer {
  std::optional<Witness> witness = {};
  std::optional<Violation> violation = {};

  static Verdict consistent(Witness witness);
  static Verdict violated(Violation violation);
  static Verdict unknown(std::string limit);
};

}  // namespace isoscope
