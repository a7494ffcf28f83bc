#include "verdict/naming.h"

#include <algorithm>

#include "verdict/confirm.h"

namespace isoscope {

namespace {

bool has(std::span<const Edge> cycle, EdgeKind kind) {
  return std::any_of(cycle.begin(), cycle.end(), [&](const Edge& e) { return e.kind == kind; });
}

bool reads_key_from(const History& h, TxnId reader, KeyId x, TxnId writer) {
  const auto events = h.events(reader);
  return std::any_of(events.begin(), events.end(), [&](EventId e) {
    return h.is_external_read(e) && h.key(e) == x && h.writer(e) == writer;
  });
}

bool is_read_only(const History& h, TxnId t) {
  const auto events = h.events(t);
  return std::none_of(events.begin(), events.end(), [&](EventId e) { return h.is_write(e); });
}

// Read atomicity fails at a forced edge t2 → t1: t3 sees t2, yet reads x from the older t1.
Anomaly name_fractured(const History& h, std::span<const Edge> cycle) {
  Anomaly name = Anomaly::FracturedRead;
  for (const Edge& edge : cycle) {
    if (edge.kind != EdgeKind::Co) continue;
    const TxnId reader = h.txn(edge.read);
    if (reads_key_from(h, reader, edge.key, edge.from)) return Anomaly::NonRepeatableRead;
    if (edge.path.size() == 1 && edge.path[0].kind == EdgeKind::So)
      name = Anomaly::StaleSessionRead;
  }
  return name;
}

// Two transactions read a version of one key and both overwrite it.
bool is_lost_update(const History& h, std::span<const Edge> cycle) {
  if (cycle.size() != 2 || cycle[0].key != cycle[1].key) return false;
  if (cycle[0].key.is_none() || !has(cycle, EdgeKind::Rw)) return false;
  return h.writes(cycle[0].from, cycle[0].key) && h.writes(cycle[1].from, cycle[0].key);
}

// Both read the very version that both overwrite: a lost update whatever order they are put in.
bool read_same_version(const History& h, std::span<const Edge> cycle) {
  return std::all_of(cycle.begin(), cycle.end(), [&](const Edge& e) {
    return e.kind == EdgeKind::Rw && h.writer(e.read) == h.writer(cycle[0].read);
  });
}

Anomaly name_dependencies(const History& h, std::span<const Edge> cycle) {
  if (!has(cycle, EdgeKind::Rw)) {
    const bool only_ww = !has(cycle, EdgeKind::So) && !has(cycle, EdgeKind::Wr);
    return only_ww ? Anomaly::DirtyWrite : Anomaly::CircularInformation;
  }
  if (is_lost_update(h, cycle)) return Anomaly::LostUpdate;
  const auto rw = std::count_if(cycle.begin(), cycle.end(),
                                [](const Edge& e) { return e.kind == EdgeKind::Rw; });
  if (rw == 1) return Anomaly::ReadSkew;
  bool adjacent = false;
  for (std::size_t i = 0; i < cycle.size(); ++i)
    adjacent |= cycle[i].kind == EdgeKind::Rw && cycle[(i + 1) % cycle.size()].kind == EdgeKind::Rw;
  if (!adjacent) return Anomaly::LongFork;
  const auto read_only = [&](const Edge& e) { return is_read_only(h, e.from); };
  if (std::any_of(cycle.begin(), cycle.end(), read_only)) return Anomaly::ReadOnlyAnomaly;
  return rw == static_cast<std::ptrdiff_t>(cycle.size()) ? Anomaly::WriteSkew
                                                         : Anomaly::SerializationCycle;
}

}  // namespace

Logic weakest_forbidding(const History& h, Logic found_by, std::span<const Edge> cycle) {
  for (Logic logic : {Logic::Ua, Logic::Psi, Logic::Pc, Logic::Si}) {
    if (!cycle.empty() && !check_cycle(h, logic, cycle)) return logic;
  }
  return found_by;
}

Anomaly name_cycle(const History& h, Logic weakest, std::span<const Edge> cycle) {
  if (cycle.empty()) return Anomaly::Unexplainable;
  if (!has(cycle, EdgeKind::Co)) {
    const Anomaly shape = name_dependencies(h, cycle);
    if (weakest != Logic::Si && weakest != Logic::Ser) return shape;
    // What only si or ser forbids has a name of its own only in these shapes.
    const bool keeps_name = shape == Anomaly::LongFork || shape == Anomaly::WriteSkew ||
                            shape == Anomaly::ReadOnlyAnomaly ||
                            (shape == Anomaly::LostUpdate && read_same_version(h, cycle));
    return keeps_name ? shape : Anomaly::SerializationCycle;
  }
  switch (weakest) {
    case Logic::Rc: return Anomaly::NonMonotonicRead;
    case Logic::Ra: return name_fractured(h, cycle);
    case Logic::True:
    case Logic::Cc:
    case Logic::Pc:
    case Logic::Ua:
    case Logic::Psi:
    case Logic::Si:
    case Logic::Ser: break;
  }
  return Anomaly::CausalityViolation;
}

}  // namespace isoscope
