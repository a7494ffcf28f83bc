// Confirms violations: cycles edge by edge, faults event by event.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "verdict/confirm.h"

namespace isoscope {

namespace {

using Complaint = std::optional<std::string>;

class EdgeTracer {
 public:
  EdgeTracer(const History& h, Logic logic) : h_(h), logic_(logic) {}

  Complaint edge(const Edge& e) const {
    if (!h_.is_present(e.from) || !h_.is_present(e.to)) return complain(e, "leaves the history");
    switch (e.kind) {
      case EdgeKind::So:
        return h_.so(e.from, e.to) ? Complaint{} : complain(e, "is not in session order");
      case EdgeKind::Rt:
        return h_.rt(e.from, e.to) ? Complaint{} : complain(e, "is not in real-time order");
      case EdgeKind::Wr:
        if (!shows(e.read, e.key, e.from) || h_.txn(e.read) != e.to)
          return complain(e, "is no read from that writer");
        return {};
      case EdgeKind::Ww:
      case EdgeKind::Co: return version(e);
      case EdgeKind::Rw: return overwritten(e);
      case EdgeKind::Vis:
      case EdgeKind::Ar: break;
    }
    return complain(e, "has a kind that needs a witness");
  }

  // Do these edges lead from `from` to `to`, each of them holding?
  Complaint path(TxnId from, TxnId to, std::span<const Edge> edges) const {
    for (const Edge& e : edges) {
      if (e.from != from) return complain(e, "does not start where the path is");
      if (auto wrong = edge(e)) return wrong;
      from = e.to;
    }
    if (from != to) return fmt::format("a path ends in {}, not in {}", h_.name(from), h_.name(to));
    return {};
  }

  static std::vector<EdgeKind> kinds(std::span<const Edge> edges) {
    std::vector<EdgeKind> result;
    for (const Edge& e : edges) result.push_back(e.kind == EdgeKind::Co ? EdgeKind::Ww : e.kind);
    return result;
  }

 private:
  std::string complain(const Edge& e, std::string_view what) const {
    return fmt::format("{} -{}-> {} {}", h_.name(e.from), name_of(e.kind), h_.name(e.to), what);
  }

  bool is_read_of(EventId read, KeyId x, TxnId writer) const {
    return read.index < h_.num_events() && h_.is_read(read) && h_.is_external_read(read) &&
           h_.key(read) == x && h_.writer(read) == writer;
  }

  // A list shows the writers of all its elements.
  bool shows(EventId read, KeyId x, TxnId t) const {
    return read.index < h_.num_events() && h_.is_read(read) && h_.is_external_read(read) &&
           h_.key(read) == x && h_.shows(read, t);
  }

  // T0 comes first; lists tell the rest.
  bool is_version_fact(TxnId from, TxnId to, KeyId x) const {
    if (from == kInitialTxn) return true;
    std::unordered_multimap<TxnId, TxnId> after;
    for (const VersionEdge& v : h_.version_edges()) {
      if (v.key == x) after.emplace(v.before, v.after);
    }
    std::vector<TxnId> reached = {from};
    std::unordered_set<TxnId> is_reached = {from};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const auto [begin, end] = after.equal_range(reached[i]);
      for (auto next = begin; next != end; ++next) {
        if (next->second == to) return true;
        if (is_reached.insert(next->second).second) reached.push_back(next->second);
      }
    }
    return false;
  }

  Complaint version(const Edge& e) const {
    if (e.key.is_none() || !h_.writes(e.from, e.key) || !h_.writes(e.to, e.key) || e.from == e.to)
      return complain(e, "does not join two writers of its key");
    if (e.read.is_none()) {
      if (e.path.empty())
        return is_version_fact(e.from, e.to, e.key) ? Complaint{}
                                                    : complain(e, "is no known version order");
      if (auto wrong = path(e.from, e.to, e.path)) return wrong;
      auto closed = kinds(e.path);  // were `to` first, this would be a cycle
      closed.push_back(EdgeKind::Ww);
      return forbids(logic_, closed) ? Complaint{} : complain(e, "does not follow from its path");
    }
    if (!is_read_of(e.read, e.key, e.to)) return complain(e, "names a read of something else");
    const TxnId reader = h_.txn(e.read);
    if (auto wrong = path(e.from, reader, e.path)) return wrong;
    if (e.kind == EdgeKind::Co)
      return sees(e) ? Complaint{} : complain(e, "is not forced at this level");
    if (e.path.empty()) return {};  // the reader overwrites what it read
    auto closed = kinds(e.path);
    closed.push_back(EdgeKind::Rw);
    return forbids(logic_, closed) ? Complaint{} : complain(e, "does not follow from its read");
  }

  // Does the level let the reader see `from` through the path?
  bool sees(const Edge& e) const {
    const auto is_fact = [](const Edge& step) {
      return step.kind == EdgeKind::So || step.kind == EdgeKind::Wr || step.kind == EdgeKind::Rt;
    };
    if (e.path.empty() || !std::all_of(e.path.begin(), e.path.end(), is_fact)) return false;
    if (logic_ == Logic::True) return false;
    if (logic_ == Logic::Rc)
      return e.path.size() == 1 && e.path[0].kind == EdgeKind::Wr && e.path[0].read < e.read;
    if (logic_ == Logic::Ra || logic_ == Logic::Ua) return e.path.size() == 1;
    return true;
  }

  Complaint overwritten(const Edge& e) const {
    if (e.read.index >= h_.num_events() || !h_.is_read(e.read)) return complain(e, "names no read");
    const TxnId writer = h_.writer(e.read);
    if (!is_read_of(e.read, e.key, writer) || h_.txn(e.read) != e.from)
      return complain(e, "names a read of something else");
    if (e.to == e.from || e.to == writer || !h_.writes(e.to, e.key))
      return complain(e, "does not overwrite what was read");
    if (e.path.empty())
      return is_version_fact(writer, e.to, e.key) ? Complaint{}
                                                  : complain(e, "has no version order behind it");
    if (e.path.size() != 1 || e.path[0].kind != EdgeKind::Ww || e.path[0].key != e.key)
      return complain(e, "is explained by something else than a version order");
    return path(writer, e.to, e.path);
  }

  const History& h_;
  Logic logic_;
};

}  // namespace

std::optional<std::string> check_cycle(const History& h, Logic logic, std::span<const Edge> cycle) {
  if (cycle.empty()) return "there is no cycle";
  const EdgeTracer tracer(h, logic);
  if (auto wrong = tracer.path(cycle[0].from, cycle[0].from, cycle)) return wrong;
  if (!forbids(logic, EdgeTracer::kinds(cycle)))
    return fmt::format("{} allows cycles of this shape", name_of(logic));
  return {};
}

std::optional<std::string> check_fault(const History& h, const ReadFault& fault) {
  const EventId read = fault.read;
  if (read.index >= h.num_events() || !h.is_read(read)) return "the fault names no read";
  const TxnId t = h.txn(read);
  const KeyId x = h.key(read);
  const Value seen = h.is_list(x) && fault.kind == FaultKind::IntermediateRead
                         ? h.last_foreign(read)
                         : h.value(read);
  const auto writes_seen = [&](EventId e) {
    return h.is_write(e) && h.key(e) == x && h.value(e) == seen;
  };
  switch (fault.kind) {
    case FaultKind::ThinAirRead: {
      if (h.is_list(x)) {
        std::set<Value> appended;
        for (EventId e : h.all_events()) {
          if (h.is_write(e) && h.key(e) == x) appended.insert(h.value(e));
        }
        for (Value v : h.list(read)) {
          if (!appended.contains(v)) return {};
        }
        return "every element of the list was appended";
      }
      for (EventId e : h.all_events()) {
        if (writes_seen(e)) return fmt::format("{} wrote that value", h.name(h.txn(e)));
      }
      if (h.has_initial(x) && h.initial_value(x) == seen) return "it is the initial value";
      return {};
    }
    case FaultKind::AbortedRead:
      if (h.txn(fault.other) == t || h.is_committed(h.txn(fault.other)))
        return "its writer did not abort";
      return {};
    case FaultKind::IntermediateRead: {
      if (!writes_seen(fault.other)) return "the write is of something else";
      for (EventId e : h.events(h.txn(fault.other))) {
        if (e > fault.other && h.is_write(e) && h.key(e) == x) return {};
      }
      return "its writer did not overwrite it";
    }
    case FaultKind::FutureRead:
      if (h.txn(fault.other) != t || fault.other < read)
        return "its own transaction does not write it later";
      return {};
    case FaultKind::OwnWriteViolation:
      if (h.txn(fault.other) != t || fault.other > read || h.key(fault.other) != x)
        return "its own transaction did not write the key before";
      return {};
    case FaultKind::IncompatibleOrder:
      if (h.is_write(fault.other)) return {};  // an element that a list shows twice
      {
        const auto a = h.list(read);
        const auto b = h.list(fault.other);
        const std::size_t common = std::min(a.size(), b.size());
        if (std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin()))
          return "one list continues the other";
      }
      return {};
  }
  return "unknown kind of fault";
}

}  // namespace isoscope
