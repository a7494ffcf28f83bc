#pragma once
// Random histories with everything in them that a format may stumble over: odd names and texts,
// negative and huge numbers, nil, lists, levels, notes, all outcomes, faults, stated initial
// values, writers that only a name can tell apart; statements, locks, inserts, times and whatever
// else a recorded run has.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "history/builder.h"
#include "support/choices.h"

namespace isoscope {

struct WildShape {
  bool plain = false;  // only what every format can hold, lists and reads of T0 apart
  bool lists = false;
  bool statements = false;  // with locks, inserts, times and notes
};

class WildHistory {
 public:
  WildHistory(Choices choices, WildShape shape) : rng_(choices), shape_(shape) {}

  // None if the builder refuses it, for instance because a value that is read has two writers.
  std::optional<History> make() {
    constexpr InitialValues kPolicies[] = {InitialValues::None, InitialValues::Zero,
                                           InitialValues::Nil, InitialValues::ZeroOrNil};
    HistoryBuilder b(shape_.plain ? InitialValues::Zero : kPolicies[rng_.below(4)]);
    const std::size_t txns = rng_.below(7);
    std::vector<TxnId> ids;
    std::vector<SessionId> sessions;
    for (std::size_t i = 0; i < txns; ++i) {
      const std::size_t s = std::min<std::size_t>(rng_.below(3), sessions.size());
      if (s == sessions.size()) sessions.push_back(session(b, s));
      ids.push_back(begin(b, sessions[s], i));
    }
    if (!shape_.plain && rng_.chance(0.3)) b.set_initial(key(b, 0), value(b), {1, 1});
    const std::size_t events = txns == 0 ? 0 : txns + rng_.below(12);
    for (std::size_t i = 0; i < events; ++i) {
      const TxnId t = ids[shape_.plain && i < txns ? i : rng_.below(txns)];
      if (shape_.statements) statement_or_lock(b, t);
      event(b, t, {static_cast<std::uint32_t>(i + 1), static_cast<std::uint32_t>(rng_.below(9))});
    }
    for (TxnId t : ids) {
      if (shape_.statements && rng_.chance(0.3)) statement_or_lock(b, t);
    }
    auto h = std::move(b).build();
    if (!h) return {};
    return std::move(*h);
  }

 private:
  SessionId session(HistoryBuilder& b, std::size_t i) {
    if (shape_.plain) return b.session(static_cast<std::int64_t>(i) + 1);
    switch (rng_.below(4)) {
      case 0: return b.session(static_cast<std::int64_t>(i) + 7);
      case 1: return b.session(fmt::format("client_{}", i));
      case 2:
        return rng_.chance(0.1) ? b.session(fmt::format("two words {}", i)) : b.unnamed_session();
      default: return b.unnamed_session();
    }
  }

  TxnId begin(HistoryBuilder& b, SessionId s, std::size_t i) {
    const Place place{static_cast<std::uint32_t>(i + 1), 1};
    if (shape_.plain) return b.begin(s, TxnStatus::Committed, place);
    const TxnId t = b.begin(s, static_cast<TxnStatus>(rng_.chance(0.6) ? 0 : rng_.below(3)), place);
    if (rng_.chance(0.3)) b.set_name(t, static_cast<std::int64_t>(i) + 40);
    if (rng_.chance(0.1)) b.set_name(t, fmt::format("name_{}", i));
    if (rng_.chance(0.05)) b.set_name(t, fmt::format("a name, {}", i));
    if (rng_.chance(0.1)) b.set_level(t, rng_.chance(0.5) ? "si" : "update-ser@vis");
    if (rng_.chance(0.05)) b.set_note(t, {.sql = "SELECT \"x\"\n", .at = "12:00"});
    if (shape_.statements) run_facts(b, t, static_cast<std::int64_t>(i));
    return t;
  }

  void run_facts(HistoryBuilder& b, TxnId t, std::int64_t i) {
    // Half of the histories have times, and of these half only in part.
    if (i == 0) has_times_ = rng_.chance(0.5);
    if (i == 0) has_all_times_ = rng_.chance(0.5);
    const bool is_timed = has_times_ && (has_all_times_ || rng_.chance(0.5));
    if (is_timed) {
      const std::int64_t start =
          (has_all_times_ ? 10 * i : static_cast<std::int64_t>(rng_.below(20))) - 5;
      const auto length = static_cast<std::int64_t>(rng_.below(9));
      b.set_times(t, rng_.chance(0.1) ? TxnTimes{.start = start} : TxnTimes{start, start + length});
    }
    if (rng_.chance(0.05)) b.set_commit_number(t, 10 - i);
    if (!rng_.chance(0.05)) return;
    using Kind = StatementParameter::Kind;
    TxnNote note{.error = "40001", .isolation = "read committed"};
    if (rng_.chance(0.5)) note.gaps = {{.stmt = 2, .why = "a join"}, {}};
    StatementNote statement{.sql = "SELECT '\xc3\xa9'", .at = rng_.chance(0.5) ? "17" : "noon"};
    if (rng_.chance(0.5))
      statement.params = {
          {{}, {.kind = Kind::Text, .text = "a\"b"}, {.kind = Kind::Hex, .text = "00"}}};
    if (rng_.chance(0.5)) statement.error = "23505";
    note.stmts = {statement, {}};
    b.set_note(t, note);
  }

  void statement_or_lock(HistoryBuilder& b, TxnId t) {
    constexpr std::string_view kRows[] = {"x", "stock[1,-2]", "cart 7", "stock[7].qty", "a]b"};
    const double what = static_cast<double>(rng_.below(100));
    if (what < 30) b.begin_statement(t);
    if (what >= 30 && what < 45) b.end_statement(t);
    if (what < 80) return;
    const std::uint64_t row = rng_.below(7);
    b.lock(t, row < 5 ? b.text(kRows[row]) : Value::of(static_cast<std::int64_t>(row) - 3),
           static_cast<LockMode>(rng_.below(3)), {});
  }

  KeyId key(HistoryBuilder& b, std::size_t i) {
    if (shape_.plain) return b.key(static_cast<std::int64_t>(i));
    constexpr std::string_view kNames[] = {"x", "stock[1,-2]", "cart 7", "Set(cart:7)", "nil"};
    if (i == 1 && rng_.chance(0.02)) return b.key("7");
    if (i == 1 && rng_.chance(0.02)) return b.key("18446744073709551615");
    if (i == 1 && rng_.chance(0.02)) return b.key("\"\\\n\x01\xc3\xa9");
    if (i == 1 && rng_.chance(0.02)) return b.key("\xff");
    if (i >= 3) return b.key(static_cast<std::int64_t>(i) * (i == 4 ? -1 : 1));
    return b.key(kNames[i]);
  }

  Value value(HistoryBuilder& b) {
    if (shape_.plain) return Value::of(static_cast<std::int64_t>(rng_.below(40)) + 1);
    switch (rng_.below(16)) {
      case 0: return Value::nil();
      case 1: return b.text("7");
      case 2: return b.text("two\twords \"\\");
      case 3: return Value::of(-5);
      case 4: return b.text("9223372036854775808");
      default: return Value::of(static_cast<std::int64_t>(rng_.below(6)));
    }
  }

  void event(HistoryBuilder& b, TxnId t, Place place) {
    if (shape_.lists && rng_.chance(0.7)) return list_event(b, t, place);
    const KeyId x = key(b, rng_.below(shape_.lists ? 2 : 5));
    if (shape_.statements && rng_.chance(0.1)) return b.insert(t, x, value(b), place);
    if (rng_.chance(0.5)) return b.write(t, x, value(b), place);
    if (shape_.plain) {
      return b.read(t, x, rng_.chance(0.3) ? Value::of(0) : value(b), place);
    }
    if (rng_.chance(0.15)) return b.read_from(t, x, rng_.chance(0.5) ? "T0" : "T1", place);
    b.read(t, x, value(b), place);
  }

  // Appends 1, 2, … and mostly reads prefixes of that.
  void list_event(HistoryBuilder& b, TxnId t, Place place) {
    const auto which = static_cast<std::int64_t>(rng_.below(2));
    const KeyId x = b.key(100 + which);
    std::int64_t& last = last_element_[which];
    if (rng_.chance(0.5)) return b.append(t, x, Value::of(++last), place);
    if (rng_.chance(0.1)) return b.read(t, x, Value::nil(), place);
    std::vector<Value> shown;
    const auto n = static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(last) + 1));
    for (std::int64_t i = 1; i <= n; ++i) shown.push_back(Value::of(i));
    if (rng_.chance(0.1)) shown.push_back(Value::of(static_cast<std::int64_t>(rng_.below(9)) + 1));
    b.read_list(t, x, shown, place);
  }

  Choices rng_;
  WildShape shape_;
  std::int64_t last_element_[2] = {0, 0};
  bool has_times_ = false;
  bool has_all_times_ = false;
};

}  // namespace isoscope
