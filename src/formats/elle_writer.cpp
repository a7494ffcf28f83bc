#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

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
    if (h_.has_times()) return write_by_time();
    for (TxnId t : h_.txns()) {
      if (t == kInitialTxn) continue;
      write_invocation(t);
      write_completion(t);
      if (text_.is_over()) return limit_error("writing the history");
    }
    return {};
  }

 private:
  void write_invocation(TxnId t) {
    const auto times = h_.times(t);
    write_op(t, ":invoke", false, times ? std::optional(times->start) : std::nullopt);
  }
  // What ends as :info has no end; the time of the line means nothing.
  void write_completion(TxnId t) {
    constexpr std::string_view kCompletion[] = {":ok", ":fail", ":info"};
    write_op(t, kCompletion[static_cast<std::size_t>(h_.status(t))], true, time_of_completion(t));
  }
  std::optional<std::int64_t> time_of_completion(TxnId t) const {
    const auto times = h_.times(t);
    if (!times) return {};
    return times->end == TxnTimes::kOpen ? times->start : times->end;
  }

  // Sessions run in their order, and of all that may come next the earliest comes first.
  Result<void> write_by_time() {
    struct Next {
      std::int64_t time;
      SessionId session;
      std::size_t step;  // twice the position of the transaction, and one more for its completion
      bool operator>(const Next& other) const {
        return std::tie(time, session) > std::tie(other.time, other.session);
      }
    };
    std::priority_queue<Next, std::vector<Next>, std::greater<>> waiting;
    const auto await = [&](SessionId s, std::size_t step) {
      const auto txns = h_.session_txns(s);
      if (step / 2 == txns.size()) return;
      const TxnId t = txns[step / 2];
      waiting.push({step % 2 == 0 ? h_.times(t)->start : *time_of_completion(t), s, step});
    };
    for (SessionId s : h_.sessions()) await(s, 0);
    while (!waiting.empty()) {
      const Next next = waiting.top();
      waiting.pop();
      const TxnId t = h_.session_txns(next.session)[next.step / 2];
      if (next.step % 2 == 0) {
        write_invocation(t);
      } else {
        write_completion(t);
      }
      if (text_.is_over()) return limit_error("writing the history");
      await(next.session, next.step + 1);
    }
    return {};
  }

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

  // An :index would be a time.
  void write_op(TxnId t, std::string_view type, bool with_reads, std::optional<std::int64_t> time) {
    text_ << "{:type " << type << ", :process " << numbers_.sessions[h_.session(t).index];
    if (time) text_ << ", :time " << *time;
    text_ << ", :f :txn, :value [";
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
};

}  // namespace

Result<void> write_elle(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::Elle));
  if (!wording) return wording.error();
  return ElleWriter(h, *wording, out, budget).write();
}

}  // namespace isoscope
