#include "formats/json_string.h"
#include "formats/jsonl.h"
#include "formats/scan.h"
#include "formats/text_buffer.h"
#include "formats/wording.h"

namespace isoscope {

namespace {

class JsonlWriter {
 public:
  JsonlWriter(const History& h, const Wording& wording, const Sink& out, const Budget& budget)
      : h_(h), wording_(wording), text_(out, budget) {}

  Result<void> write() {
    write_header();
    for (TxnId t : h_.txns()) {
      if (t != kInitialTxn) write_txn(t);
      if (text_.is_over()) return limit_error("writing the history");
    }
    return {};
  }

 private:
  std::string json(Value value) const {
    if (value.is_nil()) return "null";
    return value.is_int() ? std::to_string(value.bits) : json_quoted(h_.texts().text(value));
  }

  // Keys that are numbers cannot be names of members: then all are pairs.
  void write_header() {
    std::vector<KeyId> stated;
    bool numbers = false;
    for (KeyId x : h_.keys()) {
      if (!wording_.stated_initial(x)) continue;
      stated.push_back(x);
      numbers |= h_.key_name(x).is_int();
    }
    text_ << R"({"format":")" << kJsonlFormat << '"';
    if (!stated.empty()) {
      text_ << R"(,"init":)" << (numbers ? '[' : '{');
      std::string_view separator;
      for (KeyId x : stated) {
        text_ << separator << (numbers ? "[" : "") << json(h_.key_name(x)) << (numbers ? ',' : ':')
              << json(*wording_.stated_initial(x)) << (numbers ? "]" : "");
        separator = ",";
      }
      text_ << (numbers ? ']' : '}');
    }
    if (!h_.header().source.empty()) text_ << R"(,"source":)" << json_quoted(h_.header().source);
    if (!h_.header().conflicts.empty())
      text_ << R"(,"conflicts":)" << json_quoted(h_.header().conflicts);
    text_ << "}\n";
  }

  void write_txn(TxnId t) {
    constexpr std::string_view kStatus[] = {"committed", "aborted", "unknown"};
    text_ << R"({"session":)" << json_quoted(h_.name(h_.session(t))) << R"(,"id":)"
          << json_quoted(h_.name(t)) << R"(,"status":")"
          << kStatus[static_cast<std::size_t>(h_.status(t))] << R"(","ops":[)";
    write_operations(t);
    text_ << ']';
    if (!h_.level(t).empty()) text_ << R"(,"level":)" << json_quoted(h_.level(t));
    if (const TxnNote* note = h_.note(t)) {
      if (!note->sql.empty()) text_ << R"(,"sql":)" << json_quoted(note->sql);
      if (!note->at.empty()) text_ << R"(,"at":)" << json_quoted(note->at);
      if (!note->isolation.empty()) text_ << R"(,"isolation":)" << json_quoted(note->isolation);
    }
    if (const auto times = h_.times(t)) {
      text_ << R"(,"start":)" << times->start;
      if (times->end != TxnTimes::kOpen) text_ << R"(,"end":)" << times->end;
    }
    if (const auto number = h_.commit_number(t)) text_ << R"(,"commit":)" << *number;
    if (const TxnNote* note = h_.note(t)) write_run_notes(*note);
    text_ << "}\n";
  }

  // A group is a statement; one of a single operation goes without, as each operation is one.
  void write_operations(TxnId t) {
    if (!h_.has_statements()) {
      std::string_view separator;
      for (EventId e : h_.events(t)) {
        if (text_.is_over()) return;
        text_ << separator;
        write_event(e);
        separator = ",";
      }
      return;
    }
    const auto events = h_.events(t);
    const auto locks = h_.locks(t);
    auto event = events.begin();
    auto lock = locks.begin();
    for (std::uint32_t s = 0; s < h_.num_statements(t); ++s) {
      text_ << (s == 0 ? "[" : ",[");
      std::string_view separator;
      for (;;) {
        if (text_.is_over()) return;
        const bool has_event = event != events.end() && h_.statement(*event) == s;
        const bool has_lock = lock != locks.end() && lock->statement == s;
        if (!has_event && !has_lock) break;
        text_ << separator;
        separator = ",";
        if (has_lock && (event == events.end() || lock->before <= *event)) {
          write_lock(*lock++);
        } else {
          write_event(*event++);
        }
      }
      text_ << ']';
    }
  }

  void write_lock(const RowLock& lock) {
    constexpr std::string_view kWords[] = {"lk", "ls", "l"};
    const auto number = h_.row_table().number(lock.row);
    text_ << "[\"" << kWords[static_cast<std::size_t>(lock.mode)] << "\","
          << (number ? std::to_string(*number) : json_quoted(h_.name(lock.row))) << ']';
  }

  void write_run_notes(const TxnNote& note) {
    if (!note.error.empty()) text_ << R"(,"error":)" << json_quoted(note.error);
    std::string_view separator = R"(,"stmts":[)";
    for (const StatementNote& statement : note.stmts) {
      text_ << separator;
      write_statement_note(statement);
      separator = ",";
    }
    if (!note.stmts.empty()) text_ << ']';
    separator = R"(,"gaps":[)";
    for (const GapNote& gap : note.gaps) {
      text_ << separator << R"({"stmt":)" << static_cast<std::int64_t>(gap.stmt) << R"(,"why":)"
            << json_quoted(gap.why) << '}';
      separator = ",";
    }
    if (!note.gaps.empty()) text_ << ']';
  }

  void write_statement_note(const StatementNote& statement) {
    using ParameterKind = StatementParameter::Kind;
    text_ << R"({"sql":)" << json_quoted(statement.sql);
    if (!statement.at.empty())
      text_ << R"(,"at":)"
            << (canonical_int(statement.at) ? statement.at : json_quoted(statement.at));
    if (statement.params) {
      std::string_view separator;
      text_ << R"(,"params":[)";
      for (const StatementParameter& parameter : *statement.params) {
        text_ << separator;
        if (parameter.kind == ParameterKind::Null) text_ << "null";
        if (parameter.kind == ParameterKind::Text) text_ << json_quoted(parameter.text);
        if (parameter.kind == ParameterKind::Hex)
          text_ << R"({"hex":)" << json_quoted(parameter.text) << '}';
        separator = ",";
      }
      text_ << ']';
    }
    if (!statement.error.empty()) text_ << R"(,"error":)" << json_quoted(statement.error);
    text_ << '}';
  }

  void write_event(EventId e) {
    const KeyId x = h_.key(e);
    if (h_.kind(e) == EventKind::Write && h_.value(e).is_nil() && !h_.is_insert(e)) {
      text_ << R"(["d",)" << json(h_.key_name(x)) << ']';
      return;
    }
    const char kind = h_.is_read(e)                    ? 'r'
                      : h_.is_insert(e)                ? 'i'
                      : h_.kind(e) == EventKind::Write ? 'w'
                                                       : 'a';
    text_ << "[\"" << kind << "\"," << json(h_.key_name(x)) << ',';
    if (h_.is_read(e) && h_.is_list(x)) {
      std::string_view separator = "[";
      for (Value element : h_.list(e)) {
        text_ << separator << json(element);
        separator = ",";
      }
      text_ << (separator == "[" ? "[]]" : "]]");
    } else if (wording_.names_writer(e)) {
      text_ << R"({"from":)" << json_quoted(h_.name(h_.writer(e)))
            << (h_.is_coarse(e) ? R"(,"coarse":true}])" : "}]");
    } else {
      text_ << json(wording_.value(e)) << ']';
    }
  }

  const History& h_;
  const Wording& wording_;
  TextBuffer text_;
};

}  // namespace

Result<void> write_jsonl(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::Jsonl));
  if (!wording) return wording.error();
  return JsonlWriter(h, *wording, out, budget).write();
}

//     {"session":"s0","id":"T12","status":"committed","ops":[["r",7,3],["w",8,4]]}
void append_jsonl(const PlainTxn& txn, std::string& out) {
  out += R"({"session":"s)";
  append_number(out, txn.session);
  out += R"(","id":"T)";
  append_number(out, txn.number);
  out += R"(","status":")";
  out += txn.status == TxnStatus::Aborted ? "aborted" : "committed";
  out += R"(","ops":[)";
  for (const PlainOp& op : txn.ops) {
    if (&op != &txn.ops.front()) out += ',';
    out += op.is_write ? R"(["w",)" : R"(["r",)";
    append_number(out, op.key);
    out += ',';
    append_number(out, op.value);
    out += ']';
  }
  out += "]}\n";
}

}  // namespace isoscope
