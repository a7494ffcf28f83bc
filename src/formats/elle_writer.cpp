#include "formats/elle.h"
#include "formats/hist_lexer.h"
#include "formats/json_string.h"
#include "formats/numbering.h"
#include "formats/text_buffer.h"
#include "formats/wording.h"

namespace isoscope {

namespace {

class ElleWriter {
 public:
  ElleWriter(const History& h, const Wording& wording, const Sink& out, const Budget& budget)
      : h_(h), wording_(wording), numbers_(number(h, 0)), text_(out, budget) {}

  Result<void> write() {
    for (TxnId t : h_.txns()) {
      if (t == kInitialTxn) continue;
      write_op(t, ":invoke", false);
      constexpr std::string_view kCompletion[] = {":ok", ":fail", ":info"};
      write_op(t, kCompletion[static_cast<std::size_t>(h_.status(t))], true);
      if (text_.is_over()) return limit_error("writing the history");
    }
    return {};
  }

 private:
  std::string edn(Value value) const {
    if (value.is_nil()) return "nil";
    return value.is_int() ? std::to_string(value.bits) : json_quoted(h_.texts().text(value));
  }

  // Names are keywords, as in most files of Jepsen; other texts are strings.
  std::string edn(KeyId x) const {
    const Value name = h_.key_name(x);
    if (name.is_text() && is_hist_name(h_.texts().text(name))) return ":" + h_.name(x);
    return edn(name);
  }

  void write_op(TxnId t, std::string_view type, bool with_reads) {
    text_ << "{:index " << index_++ << ", :type " << type << ", :process "
          << numbers_.sessions[h_.session(t).index] << ", :f :txn, :value [";
    std::string_view separator;
    for (EventId e : h_.events(t)) {
      if (text_.is_over()) return;
      text_ << separator;
      separator = " ";
      write_event(e, with_reads);
    }
    text_ << "]}\n";
  }

  void write_event(EventId e, bool with_reads) {
    const KeyId x = h_.key(e);
    const std::string_view kind = h_.is_read(e)                    ? "[:r "
                                  : h_.kind(e) == EventKind::Write ? "[:w "
                                                                   : "[:append ";
    text_ << kind << edn(x) << ' ';
    if (h_.is_read(e) && !with_reads) {
      text_ << "nil]";
    } else if (h_.is_read(e) && h_.is_list(x)) {
      std::string_view separator = "[";
      for (Value element : h_.list(e)) {
        text_ << separator << edn(element);
        separator = " ";
      }
      text_ << (separator == "[" ? "[]]" : "]]");
    } else {
      text_ << edn(wording_.value(e)) << ']';
    }
  }

  const History& h_;
  const Wording& wording_;
  Numbering numbers_;
  TextBuffer text_;
  std::int64_t index_ = 0;
};

}  // namespace

Result<void> write_elle(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::Elle));
  if (!wording) return wording.error();
  return ElleWriter(h, *wording, out, budget).write();
}

}  // namespace isoscope
