#include <fmt/format.h>

#include <functional>
#include <queue>

#include "formats/isopredict.h"
#include "formats/numbering.h"
#include "formats/text_buffer.h"
#include "formats/wording.h"

namespace isoscope {

Result<std::vector<TxnId>> commit_order(const History& h, std::span<const TxnId> last) {
  // Kahn's algorithm, always with the first transaction of the file that is free: where the
  // file's own order will do, it stays.
  std::vector<std::uint32_t> waits_for(h.num_txns(), 0);
  std::vector<std::vector<TxnId>> readers(h.num_txns());
  for (SessionId s : h.sessions()) {
    const auto txns = h.session_txns(s);
    for (std::size_t i = 1; i < txns.size(); ++i) ++waits_for[txns[i].index];
  }
  for (const auto& [x, t1, t3] : h.reads_from()) {
    if (t1 == kInitialTxn || t1 == t3) continue;
    readers[t1.index].push_back(t3);
    ++waits_for[t3.index];
  }
  std::vector<std::uint8_t> is_last(h.num_txns(), 0);
  for (const TxnId t : last) is_last[t.index] = 1;
  using Rank = std::pair<std::uint8_t, TxnId>;
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> free;
  for (TxnId t : h.txns()) {
    if (t != kInitialTxn && waits_for[t.index] == 0) free.emplace(is_last[t.index], t);
  }
  std::vector<std::uint32_t> next_in_session(h.num_sessions(), 1);
  std::vector<TxnId> order;
  const auto release = [&](TxnId t) {
    if (--waits_for[t.index] == 0) free.emplace(is_last[t.index], t);
  };
  while (!free.empty()) {
    const TxnId t = free.top().second;
    free.pop();
    order.push_back(t);
    for (TxnId reader : readers[t.index]) release(reader);
    const auto txns = h.session_txns(h.session(t));
    std::uint32_t& next = next_in_session[h.session(t).index];
    if (next < txns.size()) release(txns[next++]);
  }
  if (order.size() + 1 == h.num_txns()) return order;
  return Error{.what =
                   "isopredict cannot hold this history: so and wr have a cycle, and a trace "
                   "follows the order of commits"};
}

bool is_trace_key(std::string_view text) {
  for (std::string_view breaking :
       {"\n", "\r", "] Txn(", "] From(", "] to Set[", "] from Set[", "] in Set["}) {
    if (text.find(breaking) != std::string_view::npos) return false;
  }
  return true;
}

bool is_trace_set(std::string_view text) {
  return text.starts_with("Set(") && text.ends_with(")") &&
         text.find(':') != std::string_view::npos;
}

Result<void> write_isopredict(const History& h, const Sink& out, const Budget& budget) {
  const auto wording = Wording::of(h, dialect_of(Format::IsoPredict));
  if (!wording) return wording.error();
  const auto order = commit_order(h);
  if (!order) return order.error();
  const Numbering numbers = number(h, 1);
  const auto show = [&](TxnId t) {
    if (t == kInitialTxn) return std::string("(0, 0)");
    return fmt::format("({}, {})", numbers.sessions[h.session(t).index], numbers.txns[t.index]);
  };
  TextBuffer text(out, budget);
  for (TxnId t : *order) {
    for (EventId e : h.events(t)) {
      if (text.is_over()) return limit_error("writing the history");
      const std::string key = h.name(h.key(e));
      if (!is_trace_set(key)) {
        if (h.is_read(e)) {
          text << fmt::format("READ KEY[{}] Txn{} From{}\n", key, show(t), show(h.writer(e)));
        } else {
          text << fmt::format("WRITE KEY[{}] Txn{}\n", key, show(t));
        }
        continue;
      }
      const std::size_t colon = key.find(':');
      const std::string set = key.substr(4, colon - 4);
      const std::string element = key.substr(colon + 1, key.size() - colon - 2);
      if (h.is_read(e)) {
        text << fmt::format("CONTAINS[{}] in Set[{}] From{} Txn{}\n", element, set,
                            show(h.writer(e)), show(t));
      } else if (h.value(e).is_nil()) {
        text << fmt::format("DELETE[{}] from Set[{}] Txn{}\n", element, set, show(t));
      } else {
        text << fmt::format("INSERT[{}] to Set[{}] Txn{}\n", element, set, show(t));
      }
    }
  }
  return {};
}

}  // namespace isoscope
