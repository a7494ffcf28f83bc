#include "formats/json_string.h"
#include "formats/jsonl.h"
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
    text_ << "}\n";
  }

  void write_txn(TxnId t) {
    constexpr std::string_view kStatus[] = {"committed", "aborted", "unknown"};
    text_ << R"({"session":)" << json_quoted(h_.name(h_.session(t))) << R"(,"id":)"
          << json_quoted(h_.name(t)) << R"(,"status":")"
          << kStatus[static_cast<std::size_t>(h_.status(t))] << R"(","ops":[)";
    std::string_view separator;
    for (EventId e : h_.events(t)) {
      if (text_.is_over()) return;
      text_ << separator;
      write_event(e);
      separator = ",";
    }
    text_ << ']';
    if (!h_.level(t).empty()) text_ << R"(,"level":)" << json_quoted(h_.level(t));
    if (const TxnNote* note = h_.note(t)) {
      if (!note->sql.empty()) text_ << R"(,"sql":)" << json_quoted(note->sql);
      if (!note->at.empty()) text_ << R"(,"at":)" << json_quoted(note->at);
    }
    text_ << "}\n";
  }

  void write_event(EventId e) {
    const KeyId x = h_.key(e);
    if (h_.kind(e) == EventKind::Write && h_.value(e).is_nil()) {
      text_ << R"(["d",)" << json(h_.key_name(x)) << ']';
      return;
    }
    const char kind = h_.is_read(e) ? 'r' : h_.kind(e) == EventKind::Write ? 'w' : 'a';
    text_ << "[\"" << kind << "\"," << json(h_.key_name(x)) << ',';
    if (h_.is_read(e) && h_.is_list(x)) {
      std::string_view separator = "[";
      for (Value element : h_.list(e)) {
        text_ << separator << json(element);
        separator = ",";
      }
      text_ << (separator == "[" ? "[]]" : "]]");
    } else if (wording_.names_writer(e)) {
      text_ << R"({"from":)" << json_quoted(h_.name(h_.writer(e))) << "}]";
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

}  // namespace isoscope
