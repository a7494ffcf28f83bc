#include "formats/numbering.h"
#include "formats/plume.h"
#include "formats/text_buffer.h"
#include "formats/wording.h"

namespace isoscope {

Result<void> write_plume(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::Plume));
  if (!wording) return wording.error();
  const Numbering numbers = number(h, 0);
  TextBuffer text(out, budget);
  for (TxnId t : h.txns()) {
    for (EventId e : h.events(t)) {
      if (text.is_over()) return limit_error("writing the history");
      text << (h.is_read(e) ? "r(" : "w(") << h.name(h.key(e)) << ',' << h.show(wording->value(e))
           << ',' << numbers.sessions[h.session(t).index] << ',';
      if (h.status(t) == TxnStatus::Aborted) {
        text << "-1)\n";
      } else {
        text << numbers.txns[t.index] << ")\n";
      }
    }
  }
  return {};
}

//     r(7,3,0,12)
void append_plume(const PlainTxn& txn, std::string& out) {
  const bool aborted = txn.status == TxnStatus::Aborted;
  for (const PlainOp& op : txn.ops) {
    if (aborted && !op.is_write) continue;
    out += op.is_write ? "w(" : "r(";
    append_number(out, op.key);
    out += ',';
    append_number(out, op.value);
    out += ',';
    append_number(out, txn.session);
    out += ',';
    if (aborted) {
      out += "-1";
    } else {
      append_number(out, txn.number);
    }
    out += ")\n";
  }
}

}  // namespace isoscope
