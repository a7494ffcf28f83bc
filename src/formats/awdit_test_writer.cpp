#include "formats/awdit_test.h"
#include "formats/text_buffer.h"
#include "formats/wording.h"

namespace isoscope {

Result<void> write_awdit_test(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::AwditTest));
  if (!wording) return wording.error();
  TextBuffer text(out, budget);
  bool first_session = true;
  for (SessionId s : h.sessions()) {
    if (h.session_txns(s).empty()) continue;
    if (!first_session) text << "=====\n";
    first_session = false;
    bool first_txn = true;
    for (TxnId t : h.session_txns(s)) {
      if (!first_txn) text << "-----\n";
      first_txn = false;
      for (EventId e : h.events(t)) {
        if (text.is_over()) return limit_error("writing the history");
        text << (h.is_read(e) ? "r " : "w ") << h.name(h.key(e)) << ' ' << h.show(h.value(e))
             << '\n';
      }
    }
  }
  return {};
}

}  // namespace isoscope
