#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/shown.h"
#include "report/snapshots.h"

namespace isoscope {

namespace {

const Edge* find_edge(const Violation& v, EdgeKind kind) {
  for (const Edge& e : v.cycle) {
    if (e.kind == kind) return &e;
  }
  return nullptr;
}

// "T1, T2 and T3".
std::string enumerate(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

std::vector<std::string> cycle_names(const History& h, const Violation& v) {
  std::vector<std::string> names;
  for (const Edge& e : v.cycle) names.push_back(shown(h, e.from));
  return names;
}

// "T1 → T2 → T3" along a path.
std::string trail(const History& h, const std::vector<Edge>& path) {
  std::string out = shown(h, path.front().from);
  for (const Edge& e : path) out += fmt::format(" -{}-> {}", name_of(e.kind), shown(h, e.to));
  return out;
}

// What a read saw of others: of a list the last element that another transaction appended.
std::string value_read(const History& h, EventId read) {
  return shown(h, h.is_list(h.key(read)) ? h.last_foreign(read) : h.value(read));
}

// The last element of a list that `t` appended.
std::string element_of(const History& h, EventId read, TxnId t) {
  const auto list = h.list(read);
  std::string element;
  for (EventId e : h.events(t)) {
    if (h.is_write(e) && h.key(e) == h.key(read) &&
        std::find(list.begin(), list.end(), h.value(e)) != list.end())
      element = shown(h, h.value(e));
  }
  return element;
}

// The value that is wrong about a read: of a list the element that no transaction, or the wrong
// one, appended.
Value faulty_value(const History& h, const ReadFault& f) {
  if (!h.is_list(h.key(f.read))) return h.value(f.read);
  if (f.kind == FaultKind::ThinAirRead) {
    for (Value v : h.list(f.read)) {
      const auto all = h.all_events();
      if (std::none_of(all.begin(), all.end(), [&](EventId e) {
            return h.is_write(e) && h.key(e) == h.key(f.read) && h.value(e) == v;
          }))
        return v;
    }
  }
  const bool names_append = f.kind == FaultKind::AbortedRead ||
                            f.kind == FaultKind::IntermediateRead ||
                            f.kind == FaultKind::FutureRead;
  return names_append ? h.value(f.other) : h.value(f.read);
}

std::string explain_fault(const History& h, const ReadFault& f) {
  const std::string reader = shown(h, h.txn(f.read));
  const std::string x = shown(h, h.key(f.read));
  const std::string read = fmt::format("{} reads {} = {} ({})", reader, x,
                                       shown(h, faulty_value(h, f)), where(h, f.read));
  const auto other = [&] { return shown(h, h.txn(f.other)); };
  switch (f.kind) {
    case FaultKind::ThinAirRead: {
      const std::string statement =
          h.is_list(h.key(f.read)) ? ""
                                   : printable(h.initial_statement(h.key(f.read), h.value(f.read)));
      if (statement.empty()) return read + ", which no transaction wrote";
      return fmt::format("{}, which no transaction wrote; if it was there from the start, say {}",
                         read, statement);
    }
    case FaultKind::AbortedRead:
      return fmt::format("{}, which {} wrote ({}) and then aborted", read, other(),
                         where(h, f.other));
    case FaultKind::IntermediateRead:
      return fmt::format("{}, which {} wrote ({}) but overwrote before committing", read, other(),
                         where(h, f.other));
    case FaultKind::FutureRead:
      return fmt::format("{} before it writes it itself ({})", read, where(h, f.other));
    case FaultKind::OwnWriteViolation:
      return fmt::format("{} after having written {} = {} itself ({})", read, x,
                         shown(h, h.value(f.other)), where(h, f.other));
    case FaultKind::IncompatibleOrder:
      if (h.is_write(f.other)) {
        const auto list = h.list(f.read);
        if (std::find(list.begin(), list.end(), h.value(f.other)) == list.end())
          return fmt::format(
              "{} ({}) shows an element of {} that {} appended, but not {} = {}, which {} appended "
              "next to it ({})",
              reader, where(h, f.read), x, other(), x, shown(h, h.value(f.other)), other(),
              where(h, f.other));
        return fmt::format("{} shows elements of {} twice, or out of order ({})", reader, x,
                           where(h, f.read));
      }
      return fmt::format(
          "{} ({}) and {} ({}) read {} as two lists of which neither continues the other", reader,
          where(h, f.read), other(), where(h, f.other), x);
  }
  return {};
}

// Sentences about a read that overlooks a writer which its transaction sees.
std::string explain_overlooked(const History& h, Anomaly anomaly, const Edge& co) {
  const std::string t1 = shown(h, co.to);
  const std::string t2 = shown(h, co.from);
  const std::string t3 = shown(h, h.txn(co.read));
  const std::string x = shown(h, co.key);
  if (anomaly == Anomaly::NonRepeatableRead)
    return fmt::format("{} reads {} once from {} and once from {}", t3, x, t1, t2);
  if (anomaly == Anomaly::StaleSessionRead)
    return fmt::format(
        "{} reads {} from {} although {}, earlier in its session, has overwritten it", t3, x, t1,
        t2);
  if (anomaly == Anomaly::FracturedRead)
    return fmt::format("{} sees a write of {} but reads {} from {}, which {} overwrites", t3, t2, x,
                       t1, t2);
  if (anomaly == Anomaly::NonMonotonicRead)
    return fmt::format("{} reads {} from {} after it has seen {}, which overwrites it", t3, x, t1,
                       t2);
  return fmt::format("{} reads {} from {} although {}, which overwrites it, is in {}'s causal past",
                     t3, x, t1, t2, t3);
}

// Who began after the overwriter had ended, and reads what it had overwritten.
std::string explain_stale(const History& h, const Violation& v) {
  for (const Edge& e : v.cycle) {
    if (e.kind != EdgeKind::Rw && e.kind != EdgeKind::Co) continue;
    const bool is_rw = e.kind == EdgeKind::Rw;
    const TxnId reader = h.txn(e.read);
    const TxnId overwriter = is_rw ? e.to : e.from;
    if (!h.rt(overwriter, reader)) continue;
    return fmt::format(
        "{} began after {} had ended, yet reads {} = {} from {}, which {} overwrites",
        shown(h, reader), shown(h, overwriter), shown(h, e.key), value_read(h, e.read),
        shown(h, h.writer(e.read)), shown(h, overwriter));
  }
  return {};
}

// Who reads what was written by one who began only later.
std::string explain_early(const History& h, const Violation& v) {
  for (const Edge& e : v.cycle) {
    if (e.kind == EdgeKind::Wr && h.rt(e.to, e.from))
      return fmt::format("{} had ended before {} began, yet reads {} = {} from it", shown(h, e.to),
                         shown(h, e.from), shown(h, e.key), value_read(h, e.read));
  }
  return {};
}

std::string explain_skew(const History& h, const Violation& v) {
  if (v.cycle.size() != 2)
    return fmt::format("{} each read what the next one overwrites", enumerate(cycle_names(h, v)));
  const Edge& a = v.cycle[0];
  const Edge& b = v.cycle[1];
  return fmt::format("{} reads {} and {} reads {}, and each overwrites what the other has read",
                     shown(h, a.from), shown(h, a.key), shown(h, b.from), shown(h, b.key));
}

// The cycle of a long fork has two readers (where an rw edge starts) and two writers.
std::string explain_fork(const History& h, const Violation& v) {
  std::vector<std::string> readers;
  std::vector<std::string> writers;
  for (const Edge& e : v.cycle) {
    if (e.kind != EdgeKind::Rw) continue;
    readers.push_back(shown(h, e.from));
    writers.push_back(shown(h, e.to));
  }
  return fmt::format("{} disagree on the order in which {} committed", enumerate(readers),
                     enumerate(writers));
}

// The transaction that writes nothing sees a state that no serial order passes through.
std::string explain_read_only(const History& h, const Violation& v) {
  std::string reader;
  std::vector<std::string> others;
  for (const Edge& e : v.cycle) {
    const auto events = h.events(e.from);
    const bool writes =
        std::any_of(events.begin(), events.end(), [&](EventId event) { return h.is_write(event); });
    if (!writes && reader.empty()) {
      reader = shown(h, e.from);
    } else {
      others.push_back(shown(h, e.from));
    }
  }
  return fmt::format("{} only reads, but what it sees fits no serial order of {}", reader,
                     enumerate(others));
}

// " (line 3:7)"; nothing for a history that no file holds.
std::string source_of(const History& h, EventId e) {
  return h.place(e).line == 0 ? "" : fmt::format(" ({})", h.show(h.place(e)));
}

}  // namespace

std::string where(const History& h, EventId e) { return h.show(h.place(e)); }

std::string show_event(const History& h, EventId e) {
  const std::string x = shown(h, h.key(e));
  if (h.is_read(e) && h.is_list(h.key(e))) {
    constexpr std::size_t kMostElements = 16;  // of a long list, those at its end
    const std::vector<Value> all = h.list(e);
    const std::size_t left_out = all.size() > kMostElements ? all.size() - kMostElements : 0;
    std::string list = left_out > 0 ? fmt::format("…{} more", left_out) : "";
    for (std::size_t i = left_out; i < all.size(); ++i)
      list += (list.empty() ? "" : " ") + shown(h, all[i]);
    return fmt::format("r({},[{}])", x, list);
  }
  const char letter = h.is_read(e) ? 'r' : h.kind(e) == EventKind::Append ? 'a' : 'w';
  if (letter == 'w' && h.value(e).is_nil()) return fmt::format("d({})", x);
  return fmt::format("{}({},{})", letter, x, shown(h, h.value(e)));
}

std::string explanation(const History& h, const Violation& v) {
  if (v.fault) return explain_fault(h, *v.fault);
  if (v.cycle.empty()) {
    std::vector<std::string> names;
    for (TxnId t : v.core) names.push_back(shown(h, t));
    if (names.empty()) return "no order of the transactions satisfies the level";
    return fmt::format("no order of {} satisfies {}", enumerate(names),
                       v.axiom.empty() ? "the level" : v.axiom);
  }
  if (is_about_points(v)) return explain_points(h, v);
  switch (v.anomaly) {
    case Anomaly::NonRepeatableRead:
    case Anomaly::StaleSessionRead:
    case Anomaly::FracturedRead:
    case Anomaly::NonMonotonicRead:
    case Anomaly::CausalityViolation:
      if (const Edge* co = find_edge(v, EdgeKind::Co)) return explain_overlooked(h, v.anomaly, *co);
      // The same, shown as a cycle through the reader.
      if (const Edge* rw = find_edge(v, EdgeKind::Rw))
        return explain_overlooked(h, v.anomaly,
                                  {.from = rw->to,
                                   .to = h.writer(rw->read),
                                   .kind = EdgeKind::Co,
                                   .key = rw->key,
                                   .read = rw->read});
      break;
    case Anomaly::LostUpdate:
      if (const Edge* rw = find_edge(v, EdgeKind::Rw))
        return fmt::format("{} overwrites {} without having seen {}'s update", shown(h, rw->from),
                           shown(h, rw->key), shown(h, rw->to));
      break;
    case Anomaly::ReadSkew:
      if (const Edge* rw = find_edge(v, EdgeKind::Rw))
        return fmt::format("{} reads {} as it was before {}, yet comes after {}",
                           shown(h, rw->from), shown(h, rw->key), shown(h, rw->to),
                           shown(h, rw->to));
      break;
    case Anomaly::StaleRead:
      if (auto told = explain_stale(h, v); !told.empty()) return told;
      break;
    case Anomaly::ReadBeforeWrite:
      if (auto told = explain_early(h, v); !told.empty()) return told;
      break;
    case Anomaly::WriteSkew: return explain_skew(h, v);
    case Anomaly::LongFork: return explain_fork(h, v);
    case Anomaly::ReadOnlyAnomaly: return explain_read_only(h, v);
    case Anomaly::CircularInformation:
      return fmt::format("{} depend on each other's results", enumerate(cycle_names(h, v)));
    case Anomaly::DirtyWrite:
      return fmt::format("{} overwrite each other in opposite orders",
                         enumerate(cycle_names(h, v)));
    case Anomaly::None:
    case Anomaly::ThinAirRead:
    case Anomaly::AbortedRead:
    case Anomaly::IntermediateRead:
    case Anomaly::FutureRead:
    case Anomaly::OwnWriteViolation:
    case Anomaly::IncompatibleOrder:
    case Anomaly::SerializationCycle:
    case Anomaly::RealTimeWrites:
    case Anomaly::RealTimeCycle:
    case Anomaly::Unexplainable: break;
  }
  return fmt::format("each of {} must come before the next, and the last before the first",
                     enumerate(cycle_names(h, v)));
}

std::string why(const History& h, const Edge& e) {
  if (is_about_points(e)) return why_points(h, e);
  const std::string from = shown(h, e.from);
  const std::string to = shown(h, e.to);
  const std::string x = e.key.is_none() ? "" : shown(h, e.key);
  switch (e.kind) {
    case EdgeKind::So:
      if (e.from == kInitialTxn) return "the initial state comes first";
      return fmt::format("session {} runs {} before {}", shown(h, h.session(e.from)), from, to);
    case EdgeKind::Wr:
      if (h.is_list(e.key) && h.writer(e.read) != e.from)
        return fmt::format("{} reads {} with {}, which {} appended{}", to, x,
                           element_of(h, e.read, e.from), from, source_of(h, e.read));
      return fmt::format("{} reads {} = {} from {}{}", to, x, value_read(h, e.read), from,
                         source_of(h, e.read));
    case EdgeKind::Ww:
    case EdgeKind::Co: {
      if (e.read.is_none() && e.path.empty())
        return e.from == kInitialTxn ? "the initial state comes first"
               : h.is_list(e.key)
                   ? fmt::format("the lists read of {} show {} before {}", x, from, to)
                   : fmt::format("both write {}, and {} commits first", x, from);
      if (e.read.is_none())
        return fmt::format("both write {}, and {} comes first: {}", x, from, trail(h, e.path));
      const TxnId reader = h.txn(e.read);
      if (reader == e.from)
        return fmt::format("{} overwrites {}, which it read from {}{}", from, x, to,
                           source_of(h, e.read));
      return fmt::format("{} reads {} from {}{} though it sees {}, which also writes {}: {}",
                         shown(h, reader), x, to, source_of(h, e.read), from, x, trail(h, e.path));
    }
    case EdgeKind::Rw:
      return fmt::format("{} reads {} = {} from {}{}, which {} overwrites", from, x,
                         value_read(h, e.read), shown(h, h.writer(e.read)), source_of(h, e.read),
                         to);
    case EdgeKind::Rt:
      return fmt::format("{} ended, at {}, before {} began, at {}", from, h.times(e.from)->end, to,
                         h.times(e.to)->start);
    case EdgeKind::Vis:
    case EdgeKind::Ar: break;
  }
  return fmt::format("{} orders {} before {}", name_of(e.kind), from, to);
}

}  // namespace isoscope
