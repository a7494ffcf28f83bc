#include "check/lost_update.h"

#include <map>
#include <utility>

namespace isoscope {

namespace {

// `reader` reads x from `writer`, which `to` overwrites because it read the same and wrote x.
Edge overwrites(const History& h, EventId read, TxnId from, EventId other, TxnId to) {
  const KeyId x = h.key(read);
  const TxnId writer = h.writer(read);
  Edge rw{.from = from, .to = to, .kind = EdgeKind::Rw, .key = x, .read = read};
  if (writer == kInitialTxn) return rw;
  const Edge wr{.from = writer, .to = to, .kind = EdgeKind::Wr, .key = x, .read = other};
  rw.path.push_back({.from = writer,
                     .to = to,
                     .kind = EdgeKind::Ww,
                     .key = x,
                     .read = EventId::none(),
                     .path = {wr}});
  return rw;
}

}  // namespace

std::vector<Edge> find_lost_update(const History& h) {
  struct Update {
    TxnId t;
    EventId read;
  };
  std::map<std::pair<KeyId, TxnId>, Update> first;  // by version: who read and overwrote it
  for (TxnId t : h.txns()) {
    if (!h.is_committed(t)) continue;
    for (EventId e : h.events(t)) {
      if (!h.is_external_read(e) || !h.writes(t, h.key(e))) continue;
      const auto [entry, fresh] = first.try_emplace({h.key(e), h.writer(e)}, Update{t, e});
      const Update& other = entry->second;
      if (fresh || other.t == t) continue;
      return {overwrites(h, e, t, other.read, other.t), overwrites(h, other.read, other.t, e, t)};
    }
  }
  return {};
}

}  // namespace isoscope
