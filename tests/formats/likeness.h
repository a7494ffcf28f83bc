#pragma once
// Two histories in one text each, to be compared: everything that a format must keep.
//
// Sessions and transactions go by position, so that formats without names can be compared. What a
// format may translate is left out on request: names, and values (with those of reads from T0).
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/formats.h"
#include "formats/numbering.h"
#include "history/history.h"

namespace isoscope {

struct Likeness {
  bool names = true;
  bool values = true;          // false for formats that have writers only
  bool initial_values = true;  // false for formats that cannot state them
  bool session_order = true;   // false for formats whose lines follow another order
};

class LikenessPrinter {
 public:
  LikenessPrinter(const History& h, Likeness likeness) : h_(h), likeness_(likeness) {
    for (SessionId s : h.sessions()) {
      if (!h.session_txns(s).empty()) sessions_.push_back(s);
    }
    if (likeness.session_order) return;
    const auto numbers = number(h, 1).sessions;
    std::sort(sessions_.begin(), sessions_.end(),
              [&](SessionId a, SessionId b) { return numbers[a.index] < numbers[b.index]; });
  }

  std::string print() const {
    std::string out;
    for (SessionId s : sessions_) {
      out += likeness_.names ? fmt::format("session {}\n", h_.name(s)) : "session\n";
      for (TxnId t : h_.session_txns(s)) out += print(t);
    }
    std::vector<std::string> facts;  // ids follow the file's order, which may differ
    for (const ReadFault& fault : h_.faults()) {
      facts.push_back(
          fmt::format("fault {} of {}\n", static_cast<int>(fault.kind), where(fault.read)));
    }
    for (const VersionEdge& edge : h_.version_edges()) {
      facts.push_back(fmt::format("{} before {} on {}\n", where(edge.before), where(edge.after),
                                  h_.name(edge.key)));
    }
    std::sort(facts.begin(), facts.end());
    for (const std::string& fact : facts) out += fact;
    return out;
  }

 private:
  std::string typed(Value value) const {
    return value.is_text() ? fmt::format("'{}'", h_.show(value)) : h_.show(value);
  }

  std::string where(TxnId t) const {
    if (t.is_none()) return "nobody";
    if (t == kInitialTxn) return "T0";
    const auto session =
        std::find(sessions_.begin(), sessions_.end(), h_.session(t)) - sessions_.begin();
    std::size_t position = 0;
    for (TxnId u : h_.session_txns(h_.session(t))) {
      if (u < t) ++position;
    }
    return fmt::format("{}.{}", session, position);
  }

  // Whom such a read names as its writer is lost where reads are told by their values.
  bool violates_own_write(EventId e) const {
    return std::any_of(h_.faults().begin(), h_.faults().end(), [&](const ReadFault& fault) {
      return fault.read == e && fault.kind == FaultKind::OwnWriteViolation;
    });
  }

  std::string where(EventId e) const {
    const TxnId t = h_.txn(e);
    return fmt::format("{}#{}", where(t), e.index - h_.events(t).front().index);
  }

  std::string print(TxnId t) const {
    std::string out = likeness_.names ? h_.name(t) + " " : "";
    out += fmt::format("status {} {} level '{}'", static_cast<int>(h_.status(t)),
                       h_.is_present(t) ? "present" : "absent", h_.level(t));
    if (const TxnNote* note = h_.note(t)) out += print(*note);
    if (const auto times = h_.times(t)) out += fmt::format(" <{},{}>", times->start, times->end);
    if (const auto number = h_.commit_number(t)) out += fmt::format(" commit {}", *number);
    out += fmt::format(" statements {}\n", h_.num_statements(t));
    for (EventId e : h_.events(t))
      out +=
          fmt::format("  {} {}{}\n", h_.statement(e), print(e), h_.is_insert(e) ? " insert" : "");
    for (const RowLock& lock : h_.locks(t))
      out += fmt::format("  {} lock {} of {}{} before event {}\n", lock.statement,
                         static_cast<int>(lock.mode), h_.name(lock.row),
                         h_.row_table().number(lock.row) ? "#" : "",
                         lock.before.index - h_.events(t).front().index);
    return out;
  }

  static std::string print(const TxnNote& note) {
    std::string out = fmt::format(" sql {} at {} error {} isolation {}", note.sql, note.at,
                                  note.error, note.isolation);
    for (const StatementNote& statement : note.stmts) {
      out += fmt::format(" [{} at {} error {}", statement.sql, statement.at, statement.error);
      if (statement.params) out += " params";
      if (statement.params) {
        for (const StatementParameter& parameter : *statement.params)
          out += fmt::format(" {}{}", static_cast<int>(parameter.kind), parameter.text);
      }
      out += "]";
    }
    for (const GapNote& gap : note.gaps) out += fmt::format(" gap {} {}", gap.stmt, gap.why);
    return out;
  }

  std::string print(EventId e) const {
    const KeyId x = h_.key(e);
    std::string out = fmt::format("{} {}", static_cast<int>(h_.kind(e)), typed(h_.key_name(x)));
    if (h_.is_read(e)) {
      const bool present = h_.is_present(h_.txn(e));
      const bool judged = present && (likeness_.names || !violates_own_write(e));
      out += fmt::format(" from {}{}", judged ? where(h_.writer(e)) : "?",
                         h_.is_external_read(e) ? " external" : "");
      if (h_.is_list(x)) {
        for (Value element : h_.list(e)) out += " " + typed(element);
        return out;
      }
      const bool initial = h_.is_external_read(e) && h_.writer(e) == kInitialTxn;
      if (initial && !likeness_.initial_values) return out;
    } else if (h_.is_final_write(e)) {
      out += " final";
    }
    if (likeness_.values) out += " " + typed(h_.value(e));
    return out;
  }

  const History& h_;
  Likeness likeness_;
  std::vector<SessionId> sessions_;
};

inline std::string portrait(const History& h, Likeness likeness = {}) {
  return LikenessPrinter(h, likeness).print();
}

// Does `again` state every initial value that `h` states?
inline bool states_the_same(const History& h, const History& again) {
  for (KeyId x : h.keys()) {
    if (!h.has_explicit_initial(x)) continue;
    bool stated = false;
    for (KeyId y : again.keys()) {
      stated |= h.name(x) == again.name(y) && again.has_explicit_initial(y) &&
                h.show(h.initial_value(x)) == again.show(again.initial_value(y));
    }
    if (!stated) return false;
  }
  return true;
}

// What a round trip through the format must keep.
inline Likeness kept_by(Format format) {
  switch (format) {
    case Format::Hist:
    case Format::Jsonl: return {};
    case Format::Elle:  // lines follow the times
      return {.names = false, .initial_values = false, .session_order = false};
    case Format::IsoPredict:
      return {.names = false, .values = false, .initial_values = false, .session_order = false};
    default: return {.names = false, .initial_values = false};
  }
}

}  // namespace isoscope
