#include "predict/decode.h"

#include "history/builder.h"
#include "support/assert.h"

namespace isoscope::predict {
namespace {

// The builder finds or makes keys and sessions by what they are called.
KeyId copy_key(const History& h, HistoryBuilder& builder, KeyId x) {
  const Value name = h.key_name(x);
  return name.is_int() ? builder.key(name.bits) : builder.key(h.name(x));
}

Value copy_value(const History& h, HistoryBuilder& builder, Value value) {
  return value.is_text() ? builder.text(h.texts().text(value)) : value;
}

SessionId copy_session(const History& h, HistoryBuilder& builder, SessionId s) {
  const Value name = h.given_name(s);
  if (name.is_nil()) return builder.unnamed_session();
  return name.is_int() ? builder.session(name.bits) : builder.session(h.name(s));
}

void copy_initial(const History& h, HistoryBuilder& builder) {
  for (const KeyId x : h.keys()) {
    if (h.has_initial(x))
      builder.set_initial(copy_key(h, builder, x), copy_value(h, builder, h.initial_value(x)), {});
  }
}

// Copies the statements and locks of one transaction while its events are copied one by one.
// Statements keep their numbers: those of which nothing is copied stay as empty ones.
class StatementCopier {
 public:
  StatementCopier(const History& h, HistoryBuilder& builder, TxnId t, TxnId copy)
      : h_(h), builder_(builder), copy_(copy), locks_(h.locks(t)) {}

  // Before each event that is copied, or to be passed over.
  void reach(EventId e) {
    copy_locks(e);
    if (h_.has_statements()) begin(h_.statement(e));
  }
  // Locks that stand before an event, or all that are left.
  void copy_locks(EventId before) {
    for (; !locks_.empty() && (before.is_none() || locks_.front().before <= before);
         locks_ = locks_.subspan(1)) {
      const RowLock& lock = locks_.front();
      begin(lock.statement);
      const auto number = h_.row_table().number(lock.row);
      builder_.lock(copy_, number ? Value::of(*number) : builder_.text(h_.name(lock.row)),
                    lock.mode, lock.place);
    }
  }

 private:
  void begin(std::uint32_t statement) {
    if (!h_.has_statements()) return;
    for (; begun_ <= statement; ++begun_) builder_.begin_statement(copy_);
  }

  const History& h_;
  HistoryBuilder& builder_;
  TxnId copy_;
  std::span<const RowLock> locks_;  // that are left
  std::uint32_t begun_ = 0;         // statements
};

void copy_write(const History& h, HistoryBuilder& builder, TxnId copy, EventId e, Value value) {
  const KeyId x = copy_key(h, builder, h.key(e));
  if (h.is_insert(e)) {
    builder.insert(copy, x, value, h.place(e));
  } else {
    builder.write(copy, x, value, h.place(e));
  }
}

}  // namespace

Chosen decode(const ObservedFacts& facts, const Encoder& encoder, const SatSolver& solver,
              Boundary boundary) {
  Chosen chosen;
  const auto& choices = facts.choices();
  chosen.writer.assign(choices.size(), TxnId::none());
  for (const ChoiceId c : choices.ids()) {
    for (const TxnId w : choices[c].writers) {
      if (solver.value(encoder.sees(c, w))) chosen.writer[c] = w;
    }
  }
  for (const std::vector<TxnId>& session : facts.sessions()) {
    SessionEnd end{.session = facts.history().session(session.front())};
    while (end.kept < session.size() && solver.value(encoder.kept(session[end.kept]))) ++end.kept;
    if (end.kept < session.size() && solver.value(encoder.bound(session[end.kept]))) {
      end.boundary = session[end.kept];
      if (boundary != Boundary::Relaxed) {
        for (const ChoiceId c : facts.choices_of(end.boundary)) {
          if (solver.value(encoder.stop(c))) end.stop = choices[c].reads.front();
        }
      }
    }
    chosen.ends.push_back(end);
  }
  return chosen;
}

PredictedHistory make_history(const ObservedFacts& facts, const Chosen& chosen, Extent extent) {
  const auto writer = [&](EventId e) {
    const auto choice = facts.choice_of(e);
    return choice ? chosen.writer[*choice] : facts.history().writer(e);
  };
  return make_history(facts.history(), chosen.ends, writer, extent);
}

PredictedHistory make_history(const History& h, std::span<const SessionEnd> ends,
                              const std::function<TxnId(EventId)>& writer, Extent extent) {
  HistoryBuilder builder(InitialValues::None);
  // In the order of the observed run, sessions first so that they keep their numbers.
  std::vector<EventId> last(h.num_txns(), EventId::none());
  std::vector<std::uint8_t> is_present(h.num_txns(), 0);
  std::vector<SessionId> session_of(h.num_sessions(), SessionId::none());
  for (const SessionId s : h.sessions()) session_of[s.index] = copy_session(h, builder, s);
  std::vector<std::size_t> kept(h.num_sessions(), h.num_txns());
  for (const SessionEnd& end : ends) {
    kept[end.session.index] = end.kept;
    if (end.boundary.is_none()) continue;
    is_present[end.boundary.index] = 1;
    last[end.boundary.index] = end.stop;
  }
  for (const SessionId s : h.sessions()) {
    for (const TxnId t : h.session_txns(s)) {
      if (!h.is_committed(t)) continue;
      if (kept[s.index] == 0) break;
      --kept[s.index];
      is_present[t.index] = 1;
    }
  }
  std::vector<TxnId> observed_txn = {kInitialTxn};
  std::vector<EventId> observed_event;
  for (const TxnId t : h.txns()) {
    if (is_present[t.index] == 0) continue;
    const TxnId copy =
        builder.begin(session_of[h.session(t).index], TxnStatus::Committed, h.place(t));
    observed_txn.push_back(t);
    builder.set_name(copy, h.name(t));
    if (!h.level(t).empty()) builder.set_level(copy, h.level(t));
    bool is_changed = false;
    StatementCopier statements(h, builder, t, copy);
    for (const EventId e : h.events(t)) {
      const bool is_after = !last[t.index].is_none() && last[t.index] < e;
      if (is_after && !extent.later_writes) break;
      statements.copy_locks(e);
      if (h.is_write(e)) {
        statements.reach(e);
        const bool is_unknown = is_changed && !h.value(e).is_nil();
        copy_write(h, builder, copy, e,
                   is_unknown ? builder.text(kUnknownValue) : copy_value(h, builder, h.value(e)));
        observed_event.push_back(e);
        continue;
      }
      const bool is_own = !h.is_external_read(e);
      if (is_after || (is_own && !extent.own_reads)) continue;
      statements.reach(e);
      const TxnId from = is_own ? t : writer(e);
      is_changed = is_changed || from != h.writer(e);
      builder.read_from(copy, copy_key(h, builder, h.key(e)), h.name(from), h.place(e));
      observed_event.push_back(e);
    }
    if (last[t.index].is_none() || extent.later_writes) statements.copy_locks(EventId::none());
  }
  copy_initial(h, builder);
  Result<History> built = std::move(builder).build();
  ISO_ASSERT(built.ok());
  return {std::move(*built), std::move(observed_txn), std::move(observed_event)};
}

Chosen as_observed(const ObservedFacts& facts) {
  Chosen chosen;
  for (const Choice& choice : facts.choices()) chosen.writer.push_back(choice.observed);
  for (const std::vector<TxnId>& session : facts.sessions()) {
    chosen.ends.push_back(
        {.session = facts.history().session(session.front()), .kept = session.size()});
  }
  return chosen;
}

History with_written(const History& h, std::span<const std::optional<std::int64_t>> written) {
  HistoryBuilder builder(InitialValues::None);
  std::vector<SessionId> session_of;
  for (const SessionId s : h.sessions()) session_of.push_back(copy_session(h, builder, s));
  for (const TxnId t : h.txns()) {
    if (t == kInitialTxn) continue;
    const TxnId copy = builder.begin(session_of[h.session(t).index], h.status(t), h.place(t));
    builder.set_name(copy, h.name(t));
    if (!h.level(t).empty()) builder.set_level(copy, h.level(t));
    StatementCopier statements(h, builder, t, copy);
    for (const EventId e : h.events(t)) {
      statements.reach(e);
      if (h.is_read(e)) {
        builder.read_from(copy, copy_key(h, builder, h.key(e)), h.name(h.writer(e)), h.place(e));
      } else {
        copy_write(
            h, builder, copy, e,
            written[e.index] ? Value::of(*written[e.index]) : copy_value(h, builder, h.value(e)));
      }
    }
    statements.copy_locks(EventId::none());
  }
  copy_initial(h, builder);
  Result<History> built = std::move(builder).build();
  ISO_ASSERT(built.ok());
  return std::move(*built);
}

std::vector<ChangedRead> changed_reads(const ObservedFacts& facts, const Chosen& chosen) {
  std::vector<ChangedRead> changed;
  for (const ChoiceId c : facts.choices().ids()) {
    const Choice& choice = facts.choices()[c];
    if (chosen.writer[c].is_none() || chosen.writer[c] == choice.observed) continue;
    changed.push_back({choice.reads.front(), choice.observed, chosen.writer[c]});
  }
  return changed;
}

}  // namespace isoscope::predict
