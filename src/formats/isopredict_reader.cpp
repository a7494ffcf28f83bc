#include <fmt/format.h>

#include <unordered_map>

#include "formats/isopredict.h"
#include "formats/line_scanner.h"

namespace isoscope {

namespace {

constexpr std::string_view kTraceHint =
    "lines are READ KEY[k] Txn(s, n) From(s, n); WRITE KEY[k] Txn(s, n); INSERT[e] to Set[t] "
    "Txn(s, n); DELETE[e] from Set[t] Txn(s, n); CONTAINS[e] in Set[t] From(s, n) Txn(s, n)";

struct TraceTxn {
  std::int64_t session = 0;
  std::int64_t number = 0;
  Place place = {};

  bool is_initial() const { return session == 0 && number == 0; }
  std::string name() const { return fmt::format("t{}_{}", session, number); }
  std::string shown() const { return fmt::format("({}, {})", session, number); }
};

struct TraceEvent {
  enum class Kind : std::uint8_t { Read, Write, Delete };
  Kind kind = Kind::Read;
  std::string key = {};
  TraceTxn txn = {};
  TraceTxn from = {};  // of a Read
};

class TraceReader {
 public:
  explicit TraceReader(LineReader& in) : in_(in) {}

  Result<History> read() {
    std::string_view line;
    while (in_.next(line)) {
      if (trimmed(line).empty()) continue;
      LineScanner scan(line, in_.line_number());
      auto event = parse(scan);
      if (!event) return event.error();
      if (auto done = enter(*event); !done) {
        Error error = done.error();
        error.line = line;
        return error;
      }
    }
    if (auto done = check_input(in_); !done) return done.error();
    return std::move(b_).build_open(&in_.budget());
  }

 private:
  // Takes `text` up to the closing words, which end a bracket.
  static bool take_to(LineScanner& scan, std::string_view closing, std::string& text) {
    const std::size_t found = scan.rest().find(closing);
    if (found == std::string_view::npos) return false;
    text = scan.rest().substr(0, found);
    return scan.take(scan.rest().substr(0, found + closing.size()));
  }

  static Result<TraceTxn> parse_txn(LineScanner& scan) {
    TraceTxn txn{.session = 0, .number = 0, .place = scan.place()};
    if (!scan.take_index(txn.session)) return scan.expected("the number of a session", kTraceHint);
    if (!scan.take(", ")) return scan.expected("', '", kTraceHint);
    if (!scan.take_index(txn.number))
      return scan.expected("the number of a transaction", kTraceHint);
    if (!scan.take(')')) return scan.expected("')'", kTraceHint);
    return txn;
  }

  static Result<TraceEvent> parse(LineScanner& scan) {
    TraceEvent event;
    std::string element;
    std::string set;
    const bool is_read = scan.take("READ KEY[");
    const bool of_set = !is_read && !scan.take("WRITE KEY[");
    bool from_first = false;
    if (!of_set) {
      event.kind = is_read ? TraceEvent::Kind::Read : TraceEvent::Kind::Write;
      if (!take_to(scan, "] Txn(", event.key)) return scan.expected("KEY[…] Txn(…)", kTraceHint);
    } else if (scan.take("INSERT[")) {
      event.kind = TraceEvent::Kind::Write;
      if (!take_to(scan, "] to Set[", element) || !take_to(scan, "] Txn(", set))
        return scan.expected("INSERT[…] to Set[…] Txn(…)", kTraceHint);
    } else if (scan.take("DELETE[")) {
      event.kind = TraceEvent::Kind::Delete;
      if (!take_to(scan, "] from Set[", element) || !take_to(scan, "] Txn(", set))
        return scan.expected("DELETE[…] from Set[…] Txn(…)", kTraceHint);
    } else if (scan.take("CONTAINS[")) {
      from_first = true;
      if (!take_to(scan, "] in Set[", element) || !take_to(scan, "] From(", set))
        return scan.expected("CONTAINS[…] in Set[…] From(…)", kTraceHint);
    } else {
      return scan.expected("READ, WRITE, INSERT, DELETE or CONTAINS", kTraceHint);
    }
    if (of_set) event.key = fmt::format("Set({}:{})", set, element);

    auto first = parse_txn(scan);
    if (!first) return first.error();
    event.txn = *first;
    if (event.kind == TraceEvent::Kind::Read) {
      if (!scan.take(from_first ? " Txn(" : " From("))
        return scan.expected(from_first ? "' Txn('" : "' From('", kTraceHint);
      auto second = parse_txn(scan);
      if (!second) return second.error();
      event.from = from_first ? *first : *second;
      event.txn = from_first ? *second : *first;
    }
    scan.skip_blanks();
    if (!scan.at_end()) return scan.expected("the end of the line", kTraceHint);
    return event;
  }

  static Error reserved(const TraceTxn& txn) {
    return Error{.where = txn.place,
                 .what = fmt::format("{} is in session 0, which is reserved", txn.shown()),
                 .hint = "(0, 0) is the initial transaction; other sessions count from 1"};
  }

  Result<void> enter(const TraceEvent& event) {
    if (event.txn.session == 0) {
      // What the initial transaction writes is known without being said.
      if (event.txn.is_initial() && event.kind != TraceEvent::Kind::Read) return {};
      return reserved(event.txn);
    }
    const Place place{event.txn.place.line, 1};
    const auto number = canonical_int(event.key);
    const KeyId x = number ? b_.key(*number) : b_.key(event.key);
    const TxnId t = find_or_begin(event.txn);
    if (event.kind != TraceEvent::Kind::Read) {
      const Value v = event.kind == TraceEvent::Kind::Delete ? Value::nil() : Value::of(++writes_);
      last_write_[slot(t, x)] = v;
      b_.write(t, x, v, place);
      return {};
    }
    if (const auto own = last_write_.find(slot(t, x)); own != last_write_.end()) {
      b_.read(t, x, own->second, place);
      return {};
    }
    if (event.from.is_initial()) {
      b_.read_from(t, x, "T0", place);
      return {};
    }
    if (event.from.session == 0) return reserved(event.from);
    const auto writer = txns_.find({event.from.session, event.from.number});
    if (writer == txns_.end())
      return Error{
          .where = event.from.place,
          .what = fmt::format("reads from {}, which has not appeared yet", event.from.shown()),
          .hint = "lines follow the commit order, so a writer stands before its readers"};
    if (!last_write_.contains(slot(writer->second, x)))
      return Error{.where = event.from.place,
                   .what = fmt::format("reads '{}' from {}, which has not written it", event.key,
                                       event.from.shown()),
                   .hint = "lines follow the commit order, so a write stands before its readers"};
    b_.read_from(t, x, event.from.name(), place);
    return {};
  }

  TxnId find_or_begin(const TraceTxn& txn) {
    const auto [entry, fresh] = txns_.try_emplace({txn.session, txn.number});
    if (fresh) {
      entry->second = b_.begin(b_.session(txn.session), TxnStatus::Committed, {txn.place.line, 1});
      b_.set_name(entry->second, txn.name());
    }
    return entry->second;
  }

  static std::uint64_t slot(TxnId t, KeyId x) {
    return static_cast<std::uint64_t>(t.index) << 32U | x.index;
  }

  struct PairHash {
    std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& pair) const {
      return static_cast<std::size_t>(pair.first) * 0x9e3779b97f4a7c15U +
             static_cast<std::size_t>(pair.second);
    }
  };

  LineReader& in_;
  HistoryBuilder b_{InitialValues::Zero};
  std::unordered_map<std::pair<std::int64_t, std::int64_t>, TxnId, PairHash> txns_;
  std::unordered_map<std::uint64_t, Value> last_write_;  // by transaction and key
  std::int64_t writes_ = 0;
};

}  // namespace

Result<History> read_isopredict(LineReader& in) { return TraceReader(in).read(); }

}  // namespace isoscope
