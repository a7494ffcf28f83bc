#include "formats/dbcop.h"
#include "formats/text_buffer.h"
#include "formats/wording.h"

namespace isoscope {

// The bare array, a transaction a line: it is JSON, and people can read it too.
Result<void> write_dbcop(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::Dbcop));
  if (!wording) return wording.error();
  TextBuffer text(out, budget);
  std::string_view before_session = "[";
  for (SessionId s : h.sessions()) {
    if (h.session_txns(s).empty()) continue;
    text << before_session;
    before_session = ",\n ";
    std::string_view before_txn = "[";
    for (TxnId t : h.session_txns(s)) {
      text << before_txn << R"({"events":[)";
      before_txn = ",\n  ";
      std::string_view before_event;
      for (EventId e : h.events(t)) {
        if (text.is_over()) return limit_error("writing the history");
        text << before_event << (h.is_read(e) ? R"({"Read":)" : R"({"Write":)") << R"({"variable":)"
             << h.name(h.key(e)) << R"(,"version":)"
             << (wording->names_writer(e) ? "null" : h.show(wording->value(e))) << "}}";
        before_event = ",";
      }
      text << R"(],"committed":)" << (h.status(t) == TxnStatus::Committed ? "true}" : "false}");
    }
    text << ']';
  }
  text << (before_session == "[" ? "[]\n" : "]\n");
  return {};
}

}  // namespace isoscope
