#include "check/blame.h"

#include <algorithm>
#include <map>
#include <utility>

#include "check/level_table.h"
#include "history/restrict.h"

namespace isoscope {

namespace {

// Does pc, the first axiom of si, forbid it too?
bool breaks_prefix(const History& h, const Violation& violation, Budget& budget) {
  if (violation.cycle.empty()) {
    const History part = restrict_to(h, violation.core);
    return check_strong(part, StrongLevel::Pc, budget).outcome == Outcome::Violated;
  }
  std::vector<EdgeKind> kinds;
  for (const Edge& e : violation.cycle) kinds.push_back(e.kind);
  return forbids(Logic::Pc, kinds);
}

}  // namespace

std::string blamed_axiom(const History& h, const Level& own, Logic logic, Logic weakest,
                         const Violation& violation, Budget& budget) {
  // A level of the user's may say the axioms in another order and call them otherwise.
  const Level& level = *reference_level(logic, own.framework);
  const auto name_in_own = [&](const Axiom& axiom) {
    const auto said = std::find_if(own.axioms.begin(), own.axioms.end(), [&](const Axiom& other) {
      return other.canonical == axiom.canonical;
    });
    return said == own.axioms.end() ? axiom.name : said->name;
  };
  if (level.axioms.empty()) return "EXT";
  const bool causal_already = weak_level(weakest).has_value();
  if (causal_already || level.axioms.size() == 1) return name_in_own(level.axioms.front());
  if (logic == Logic::Si && breaks_prefix(h, violation, budget))
    return name_in_own(level.axioms.front());
  return name_in_own(level.axioms.back());
}

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

namespace {

// Each step copies the cycle, and longer ones are not read.
constexpr std::size_t kLongestSimplified = 1'000;

std::vector<EdgeKind> kinds_of(const std::vector<Edge>& cycle) {
  std::vector<EdgeKind> kinds;
  for (const Edge& e : cycle) kinds.push_back(e.kind);
  return kinds;
}

bool is_simple(const std::vector<Edge>& cycle) {
  std::vector<TxnId> seen;
  for (const Edge& e : cycle) seen.push_back(e.from);
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

}  // namespace

std::vector<Edge> simplify(Logic logic, std::vector<Edge> cycle) {
  if (cycle.size() > kLongestSimplified) return cycle;
  for (std::size_t i = cycle.size(); i-- > 0;) {
    const Edge& edge = cycle[i];
    if (edge.kind != EdgeKind::Ww || !edge.read.is_none() || edge.path.size() != 1) continue;
    std::vector<Edge> candidate(cycle.begin(), cycle.begin() + static_cast<std::ptrdiff_t>(i));
    candidate.insert(candidate.end(), edge.path.begin(), edge.path.end());
    candidate.insert(candidate.end(), cycle.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     cycle.end());
    if (is_simple(candidate) && forbids(logic, kinds_of(candidate))) cycle = std::move(candidate);
  }
  return cycle;
}

}  // namespace isoscope
