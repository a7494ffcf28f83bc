#include "history/restrict.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "history/builder.h"

namespace isoscope {

namespace {

// From this size on, the writes of a transaction are sorted before one is looked for.
constexpr std::size_t kManyWrites = 64;

class Restriction {
 public:
  Restriction(const History& h, std::span<const TxnId> keep)
      : h_(h), kept_(h.num_txns(), 0), b_(InitialValues::None) {
    kept_[kInitialTxn.index] = 1;
    for (TxnId t : keep) kept_[t.index] = 1;
    for (const ReadFault& fault : h.faults()) faulted_.insert(fault.read);
  }

  void keep_only(std::span<const EventId> events) {
    kept_events_.assign(h_.num_events(), 0);
    for (EventId e : events) kept_events_[e.index] = 1;
  }

  History build() {
    std::vector<TxnId> fresh(h_.num_txns(), TxnId::none());
    for (TxnId t : h_.txns()) {
      if (kept_[t.index] == 0 || t == kInitialTxn) continue;
      const TxnId copy = b_.begin(b_.session(h_.name(h_.session(t))), h_.status(t), h_.place(t));
      b_.set_name(copy, h_.name(t));
      if (!h_.level(t).empty()) b_.set_level(copy, h_.level(t));
      if (const auto times = h_.times(t)) b_.set_times(copy, *times);
      if (const auto number = h_.commit_number(t)) b_.set_commit_number(copy, *number);
      if (const TxnNote* note = h_.note(t)) b_.set_note(copy, *note);
      copy_operations(t, copy);
    }
    b_.set_header(h_.header());
    auto result = std::move(b_).build();
    ISO_ASSERT(result.ok());
    return *std::move(result);
  }

 private:
  bool is_kept(EventId e) const { return kept_events_.empty() || kept_events_[e.index] != 0; }

  // Statements keep their numbers, so that notes go on to belong to them: those of which nothing
  // is kept stay as empty ones.
  void copy_operations(TxnId t, TxnId copy) {
    std::uint32_t begun = 0;
    const auto reach = [&](std::uint32_t statement) {
      if (!h_.has_statements()) return;
      for (; begun <= statement; ++begun) b_.begin_statement(copy);
    };
    const auto locks = h_.locks(t);
    auto lock = locks.begin();
    const auto copy_locks = [&](EventId before) {
      for (; lock != locks.end() && lock->before <= before; ++lock) {
        reach(lock->statement);
        const auto number = h_.row_table().number(lock->row);
        b_.lock(copy, number ? Value::of(*number) : b_.text(h_.name(lock->row)), lock->mode,
                lock->place);
      }
    };
    for (EventId e : h_.events(t)) {
      copy_locks(e);
      if (!is_kept(e)) continue;
      if (h_.has_statements()) reach(h_.statement(e));
      copy_event(copy, e);
    }
    copy_locks(EventId::none());
    if (h_.num_statements(t) > 0) reach(h_.num_statements(t) - 1);
  }

  // Is the write that a read saw still there?
  bool still_writes(TxnId writer, KeyId x, Value v) {
    if (kept_[writer.index] == 0) return false;
    if (writer == kInitialTxn) return true;
    const auto events = h_.events(writer);
    const auto counts = [&](EventId e) { return is_kept(e) && h_.is_write(e); };
    if (events.size() < kManyWrites) {
      return std::any_of(events.begin(), events.end(), [&](EventId e) {
        return counts(e) && h_.key(e) == x && h_.value(e) == v;
      });
    }
    const auto [entry, is_new] = sorted_writes_.try_emplace(writer);
    if (is_new) {
      for (EventId e : events) {
        if (counts(e)) entry->second.emplace_back(h_.key(e), h_.value(e));
      }
      std::sort(entry->second.begin(), entry->second.end());
    }
    return std::binary_search(entry->second.begin(), entry->second.end(), std::pair(x, v));
  }

  KeyId key(KeyId x) {
    const Value name = h_.key_name(x);
    const KeyId copy = name.is_int() ? b_.key(name.bits) : b_.key(h_.texts().text(name));
    if (h_.has_initial(x)) b_.set_initial(copy, value(h_.initial_value(x)), {});
    return copy;
  }
  Value value(Value v) { return v.is_text() ? b_.text(h_.texts().text(v)) : v; }

  void copy_event(TxnId t, EventId e) {
    const Place place = h_.place(e);
    if (h_.is_write(e)) {
      if (h_.kind(e) == EventKind::Append) {
        b_.append(t, key(h_.key(e)), value(h_.value(e)), place);
      } else if (h_.is_insert(e)) {
        b_.insert(t, key(h_.key(e)), value(h_.value(e)), place);
      } else {
        b_.write(t, key(h_.key(e)), value(h_.value(e)), place);
      }
      return;
    }
    const TxnId writer = h_.writer(e);
    if (writer.is_none() && !faulted_.contains(e)) return;  // of an absent transaction, or open
    const Value seen = h_.is_list(h_.key(e)) ? h_.last_foreign(e) : h_.value(e);
    if (!faulted_.contains(e) && !still_writes(writer, h_.key(e), seen)) return;
    if (h_.is_list(h_.key(e))) {
      std::vector<Value> shown;
      for (Value v : h_.list(e)) shown.push_back(value(v));
      drop_unknown_elements(h_.key(e), shown);
      b_.read_list(t, key(h_.key(e)), shown, place);
    } else if (h_.is_external_read(e)) {  // by name: in a part, values need not be unique
      b_.read_from(t, key(h_.key(e)), h_.name(writer), place, h_.is_coarse(e));
    } else {
      b_.read(t, key(h_.key(e)), value(h_.value(e)), place);
    }
  }

  // Elements whose appending transaction is left out vanish from the lists, as their appends do.
  void drop_unknown_elements(KeyId x, std::vector<Value>& shown) {
    std::vector<Value> gone;
    for (EventId append : h_.version_order(x)) {
      if (kept_[h_.txn(append).index] == 0 || !is_kept(append))
        gone.push_back(value(h_.value(append)));
    }
    std::sort(gone.begin(), gone.end());
    std::erase_if(shown, [&](Value v) { return std::binary_search(gone.begin(), gone.end(), v); });
  }

  const History& h_;
  std::vector<std::uint8_t> kept_;
  std::vector<std::uint8_t> kept_events_;  // empty: all
  std::set<EventId> faulted_;              // copied as they are, so that they stay what they are
  // Of large transactions: what they still write, sorted.
  std::unordered_map<TxnId, std::vector<std::pair<KeyId, Value>>> sorted_writes_;
  HistoryBuilder b_;
};

}  // namespace

History restrict_to(const History& h, std::span<const TxnId> keep) {
  return Restriction(h, keep).build();
}

History restrict_to(const History& h, std::span<const TxnId> keep,
                    std::span<const EventId> events) {
  Restriction restriction(h, keep);
  restriction.keep_only(events);
  return restriction.build();
}

}  // namespace isoscope
