#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "formats/hist.h"
#include "formats/hist_lexer.h"
#include "formats/json_string.h"
#include "formats/text_buffer.h"
#include "formats/wording.h"

namespace isoscope {

namespace {

constexpr std::size_t kWidth = 100;       // lines break before they grow longer, if they can
constexpr std::size_t kWidestLabel = 12;  // sessions with longer names are not aligned

// A byte that is not fit to be shown is \xNN, since texts of histories need not be UTF-8.
std::string hist_string(std::string_view text) {
  return quoted(text, [](std::string_view bytes, auto) {
    std::string out;
    for (const char byte : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    return out;
  });
}

class HistWriter {
 public:
  HistWriter(const History& h, const Wording& wording, const Sink& out, const Budget& budget)
      : h_(h), wording_(wording), text_(out, budget) {}

  Result<void> write() {
    write_initial_values();
    std::size_t label = 0;
    for (SessionId s : h_.sessions()) {
      if (h_.session_txns(s).empty()) continue;
      const std::size_t width = h_.name(s).size() + 2;
      if (width <= kWidestLabel) label = std::max(label, width);
    }
    for (SessionId s : h_.sessions()) {
      if (!h_.session_txns(s).empty()) write_session(s, label);
      if (text_.is_over()) return limit_error("writing the history");
    }
    if (h_.num_txns() == 1) text_ << "# no transactions\n";
    return {};
  }

 private:
  std::string key(KeyId x) const {
    const std::string name = h_.name(x);
    return is_bare_hist_key(name) ? name : hist_string(name);
  }

  std::string value(Value v) const {
    return v.is_text() ? hist_string(h_.texts().text(v)) : h_.show(v);
  }

  void write_initial_values() {
    std::string line;
    for (KeyId x : h_.keys()) {
      const auto initial = wording_.stated_initial(x);
      if (!initial) continue;
      const std::string pair = fmt::format(" {}={}", key(x), value(*initial));
      if (!line.empty() && line.size() + pair.size() > kWidth) {
        text_ << line << '\n';
        line.clear();
      }
      if (line.empty()) line = "init";
      line += pair;
    }
    if (!line.empty()) text_ << line << '\n';
  }

  // One session a line, its transactions two blanks apart; long sessions go on below.
  void write_session(SessionId s, std::size_t label) {
    const std::string name = fmt::format("{:<{}}", h_.name(s) + ":", label);
    text_ << name;
    std::size_t column = name.size();
    bool first = true;
    for (TxnId t : h_.session_txns(s)) {
      if (text_.is_over()) return;
      const std::string txn = transaction(t);
      if (!first && column + 2 + txn.size() > kWidth) {
        text_ << '\n' << std::string(label, ' ');
        column = label;
      } else if (!first || name.back() == ':') {
        text_ << (first ? " " : "  ");
        column += 2;
      }
      text_ << txn;
      column += txn.size();
      first = false;
    }
    text_ << '\n';
  }

  std::string transaction(TxnId t) {
    std::string out;
    const std::string name = h_.name(t);
    if (name != fmt::format("T{}", ++position_)) out += name + "=";
    out.push_back('[');
    write_operations(t, out);
    out.push_back(']');
    if (h_.status(t) == TxnStatus::Aborted) out.push_back('!');
    if (h_.status(t) == TxnStatus::Unknown) out.push_back('?');
    if (const auto times = h_.times(t))
      out += times->end == TxnTimes::kOpen ? fmt::format("<{},>", times->start)
                                           : fmt::format("<{},{}>", times->start, times->end);
    if (!h_.level(t).empty()) out.append("@").append(h_.level(t));
    return out;
  }

  // Bars stand between statements, unless each is one operation. A bar at the end tells that an
  // only statement is one, and that there is an empty one before it.
  void write_operations(TxnId t, std::string& out) {
    const auto locks = h_.locks(t);
    const bool has_bars = h_.has_statements() && !is_one_each(t);
    std::string_view separator;
    std::uint32_t statement = 0;
    const auto append = [&](std::uint32_t of, const std::string& operation) {
      for (; has_bars && statement < of; ++statement, separator = " ") out.append(separator) += "|";
      out.append(separator).append(operation);
      separator = " ";
    };
    auto lock = locks.begin();
    for (EventId e : h_.events(t)) {
      if (text_.is_over()) return;
      for (; lock != locks.end() && lock->before <= e; ++lock)
        append(lock->statement, locking(*lock));
      append(has_bars ? h_.statement(e) : 0, event(e));
    }
    for (; lock != locks.end(); ++lock) append(lock->statement, locking(*lock));
    if (!has_bars) return;
    const std::uint32_t count = h_.num_statements(t);
    const bool ends_with_operation = !separator.empty() && statement + 1 == count;
    const std::uint32_t bars = ends_with_operation && count > 1 ? count - 1 : count;
    for (; statement < bars; ++statement, separator = " ") out.append(separator) += "|";
  }

  bool is_one_each(TxnId t) const {
    std::vector<std::uint32_t> operations(h_.num_statements(t), 0);
    for (EventId e : h_.events(t)) ++operations[h_.statement(e)];
    for (const RowLock& lock : h_.locks(t)) ++operations[lock.statement];
    return std::all_of(operations.begin(), operations.end(), [](auto n) { return n == 1; });
  }

  std::string locking(const RowLock& lock) const {
    constexpr std::string_view kWords[] = {"lk", "ls", "l"};
    const std::string name = h_.name(lock.row);
    return fmt::format("{}({})", kWords[static_cast<std::size_t>(lock.mode)],
                       is_bare_hist_key(name) ? name : hist_string(name));
  }

  std::string event(EventId e) const {
    const std::string x = key(h_.key(e));
    if (wording_.names_writer(e)) return fmt::format("r({},@{})", x, h_.name(h_.writer(e)));
    if (h_.is_write(e) && h_.value(e).is_nil() && !h_.is_insert(e)) return fmt::format("d({})", x);
    return fmt::format("{}({},{})",
                       h_.is_read(e)     ? 'r'
                       : h_.is_insert(e) ? 'i'
                                         : 'w',
                       x, value(wording_.value(e)));
  }

  const History& h_;
  const Wording& wording_;
  TextBuffer text_;
  std::uint64_t position_ = 0;  // of the last transaction in the file
};

}  // namespace

Result<void> write_hist(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::Hist));
  if (!wording) return wording.error();
  return HistWriter(h, *wording, out, budget).write();
}

//     s0: [r("7",3) w("8",4)]
void append_hist(const PlainTxn& txn, std::string& out) {
  out += 's';
  append_number(out, txn.session);
  out += ": [";
  for (const PlainOp& op : txn.ops) {
    if (&op != &txn.ops.front()) out += ' ';
    out += op.is_write ? "w(\"" : "r(\"";
    append_number(out, op.key);
    out += "\",";
    append_number(out, op.value);
    out += ')';
  }
  out += txn.status == TxnStatus::Aborted ? "]!\n" : "]\n";
}

}  // namespace isoscope
