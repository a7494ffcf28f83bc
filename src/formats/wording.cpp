#include "formats/wording.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <unordered_set>

#include "formats/hist_lexer.h"
#include "formats/isopredict.h"
#include "formats/scan.h"
#include "history/version_table.h"

namespace isoscope {

// Looks at a history with the eyes of a format, first at what there is, then at who reads what.
class WordingFinder {
 public:
  WordingFinder(const History& h, const Dialect& dialect)
      : h_(h), d_(dialect), wording_(h, dialect), versions_(count_writes(h)) {}

  Result<Wording> find() {
    if (auto done = check_texts(); !done) return done.error();
    if (auto done = check_sessions(); !done) return done.error();
    if (auto done = check_header(); !done) return done.error();
    for (TxnId t : h_.txns()) {
      if (t == kInitialTxn) continue;
      if (auto done = check_txn(t); !done) return done.error();
    }
    for (KeyId x : h_.keys()) {
      if (auto done = check_key(x); !done) return done.error();
    }
    enter_versions();
    if (auto done = settle_initial_values(); !done) return done.error();
    for (TxnId t : h_.txns()) {
      if (auto done = word_reads(t); !done) return done.error();
    }
    return std::move(wording_);
  }

 private:
  static std::size_t count_writes(const History& h) {
    std::size_t writes = 0;
    for (EventId e : h.all_events()) writes += h.is_write(e) ? 1 : 0;
    return writes;
  }

  std::string_view format() const { return name_of(d_.format); }

  // T7 (line 4)
  std::string show(TxnId t) const {
    const Place place = h_.place(t);
    return place.line == 0 ? h_.name(t) : fmt::format("{} (line {})", h_.name(t), place.line);
  }

  Error cannot(std::string_view what) const {
    return Error{.what = fmt::format("{} cannot hold this history: {}", format(), what)};
  }

  // First: what there is.

  Result<void> check_texts() const {
    if (d_.keys != Alphabet::Unicode) return {};
    for (std::size_t i = 0; i < h_.texts().size(); ++i) {
      const Value text{ValueKind::Text, static_cast<std::int64_t>(i)};
      if (!is_unicode(h_.texts().text(text)))
        return cannot(fmt::format("its texts are UTF-8, unlike one of this history"));
    }
    return {};
  }

  Result<void> check_header() const {
    if (d_.notes) return {};
    if (!h_.header().conflicts.empty())
      return cannot(fmt::format("it cannot say that a {} conflicts", h_.header().conflicts));
    return {};
  }

  Result<void> check_sessions() const {
    if (d_.names == Names::Numbers) return {};
    std::unordered_set<std::string> seen;
    for (SessionId s : h_.sessions()) {
      if (h_.session_txns(s).empty()) continue;
      const std::string name = h_.name(s);
      if (!is_good_name(name)) return bad_name("session", name);
      if (!seen.insert(name).second)
        return cannot(fmt::format("two sessions are called '{}'", name));
    }
    return {};
  }

  bool is_good_name(std::string_view name) const {
    return d_.names == Names::Words ? is_hist_name(name) : !name.empty();
  }

  Error bad_name(std::string_view what, std::string_view name) const {
    return cannot(
        fmt::format("its names are letters, digits and underscores, unlike that of the {} "
                    "'{}'",
                    what, name));
  }

  Result<void> check_txn(TxnId t) const {
    if (d_.names != Names::Numbers && !h_.given_name(t).is_nil() && !is_good_name(h_.name(t)))
      return bad_name("transaction", h_.name(t));
    if (auto done = check_outcome(t); !done) return done;
    if (!d_.levels && !h_.level(t).empty())
      return cannot(
          fmt::format("it has no place for levels, and {} runs at {}", show(t), h_.level(t)));
    if (auto done = check_notes(t); !done) return done;
    if (auto done = check_statements(t); !done) return done;
    if (auto done = check_coarse_reads(t); !done) return done;
    if (auto done = check_times(t); !done) return done;
    if (!d_.empty_txns && h_.events(t).empty())
      return cannot(
          fmt::format("{} does nothing, and it identifies transactions by what they do", show(t)));
    for (EventId e : h_.events(t)) {
      if (auto done = check_value(t, e); !done) return done;
    }
    return {};
  }

  Result<void> check_notes(TxnId t) const {
    if (!d_.notes && h_.commit_number(t))
      return cannot(
          fmt::format("it has no place for the number of {} in the order of commits", show(t)));
    const TxnNote* note = h_.note(t);
    if (note == nullptr) return {};
    if (!d_.notes)
      return cannot(fmt::format("it has no place for the {} of {}", what_is_noted(*note), show(t)));
    bool good = is_unicode(note->sql) && is_unicode(note->at) && is_unicode(note->error) &&
                is_unicode(note->isolation);
    for (const StatementNote& statement : note->stmts) {
      good &= is_unicode(statement.sql) && is_unicode(statement.at) && is_unicode(statement.error);
      if (!statement.params) continue;
      for (const StatementParameter& parameter : *statement.params)
        good &= is_unicode(parameter.text);
    }
    for (const GapNote& gap : note->gaps) good &= is_unicode(gap.why);
    if (good) return {};
    return cannot(fmt::format("the notes of {} are no UTF-8", show(t)));
  }

  Result<void> check_times(TxnId t) const {
    const auto times = h_.times(t);
    if (d_.times == Times::None && times)
      return cannot(fmt::format("it has no place for the times of {}", show(t)));
    if (d_.times != Times::OfOperations || !h_.has_times()) return {};
    if (!times)
      return cannot(fmt::format(
          "it states the times of all transactions or of none, and {} has none", show(t)));
    const bool is_open = times->end == TxnTimes::kOpen;
    if (is_open != (h_.status(t) == TxnStatus::Unknown))
      return cannot(fmt::format("what ends has an outcome there, and {} is {}", show(t),
                                is_open ? "without an end" : "of unknown outcome with an end"));
    const auto session = h_.session_txns(h_.session(t));
    const auto next = std::upper_bound(session.begin(), session.end(), t);
    if (next == session.end() || !h_.times(*next)) return {};
    if (h_.times(*next)->start < (is_open ? times->start : times->end))
      return cannot(fmt::format("{} starts before {}, which its session runs first, has ended",
                                show(*next), show(t)));
    return {};
  }

  static std::string_view what_is_noted(const TxnNote& note) {
    if (!note.gaps.empty()) return "gaps";
    if (!note.sql.empty() || !note.stmts.empty()) return "SQL";
    if (!note.error.empty()) return "error";
    return note.isolation.empty() ? "time" : "declared level";
  }

  Result<void> check_coarse_reads(TxnId t) const {
    for (EventId e : h_.events(t)) {
      if (!d_.notes && h_.is_coarse(e))
        return cannot(fmt::format("it has no coarse reads, and {} reads '{}' as one", show(t),
                                  h_.name(h_.key(e))));
    }
    return {};
  }

  Result<void> check_statements(TxnId t) const {
    if (d_.statements) return {};
    if (!h_.locks(t).empty())
      return cannot(fmt::format("it has no locks, and {} locks {}", show(t),
                                h_.name(h_.locks(t).front().row)));
    for (EventId e : h_.events(t)) {
      if (h_.is_insert(e))
        return cannot(fmt::format("it cannot mark inserts as such, and {} inserts '{}'", show(t),
                                  h_.name(h_.key(e))));
    }
    // Statements of one event each are the same as none.
    bool is_grouped = h_.num_statements(t) != h_.events(t).size();
    for (EventId e : h_.events(t))
      is_grouped |= h_.has_statements() && h_.statement(e) != e.index - h_.events(t).front().index;
    if (is_grouped) return cannot(fmt::format("it has no statements, unlike {}", show(t)));
    return {};
  }

  Result<void> check_outcome(TxnId t) const {
    if (h_.status(t) == TxnStatus::Committed) return {};
    const bool aborted = h_.status(t) == TxnStatus::Aborted;
    const std::string_view outcome = aborted ? "aborted" : "of unknown outcome";
    const Extent extent = aborted ? d_.aborted : d_.unknown;
    if (extent == Extent::None)
      return cannot(fmt::format("{} is {}, and it has no such transactions", show(t), outcome));
    const auto events = h_.events(t);
    const bool reads =
        std::any_of(events.begin(), events.end(), [&](EventId e) { return h_.is_read(e); });
    if (extent != Extent::All && reads)
      return cannot(
          fmt::format("{} is {} and reads, and it keeps only the writes of such "
                      "transactions",
                      show(t), outcome));
    if (extent == Extent::OneWrite && events.size() != 1)
      return cannot(fmt::format("{} is {} and has {} writes, and it marks single writes only",
                                show(t), outcome, events.size()));
    return {};
  }

  static bool is_unicode(std::string_view text) {
    return simdjson::validate_utf8(text.data(), text.size());
  }

  // Does the alphabet have a word for it? Nil has rules of its own.
  bool can_spell(Alphabet alphabet, Value value) const {
    if (value.is_nil()) return true;
    if (value.is_int()) return alphabet != Alphabet::Numbers || value.bits >= 0;
    const std::string_view text = h_.texts().text(value);
    switch (alphabet) {
      case Alphabet::Numbers: return is_large_unsigned(text);
      case Alphabet::Texts:
      case Alphabet::Unicode:  // see check_texts()
        return true;
      case Alphabet::TraceWords: return is_trace_key(text) && !canonical_int(text);
    }
    return false;
  }

  static std::string_view describe(Alphabet alphabet) {
    switch (alphabet) {
      case Alphabet::Numbers: return "unsigned numbers of 64 bits";
      case Alphabet::Texts: return "texts that do not look like integers";
      case Alphabet::Unicode: return "UTF-8 texts";
      case Alphabet::TraceWords: return "texts without brackets that do not look like integers";
    }
    return {};
  }

  Result<void> check_value(TxnId t, EventId e) const {
    const Value value = h_.value(e);
    if (!d_.has_values) {
      if (h_.is_read(e) || !value.is_nil() || is_trace_set(h_.name(h_.key(e)))) return {};
      return cannot(fmt::format("{} deletes '{}', which is no element of a set", show(t),
                                h_.name(h_.key(e))));
    }
    if (value.is_nil() && !d_.nil && !wording_.reads_initial(e))
      return cannot(fmt::format("{} {} nil, and it has no absence", show(t),
                                h_.is_read(e) ? "reads" : "writes"));
    if (!can_spell(d_.values, value))
      return cannot(fmt::format("its values are {}, and {} {} {}", describe(d_.values), show(t),
                                h_.is_read(e) ? "reads" : "writes", h_.show(value)));
    return {};
  }

  Result<void> check_key(KeyId x) const {
    const Value name = h_.key_name(x);
    const bool ambiguous = d_.keys == Alphabet::Texts && name.is_text() &&
                           canonical_int(h_.texts().text(name)).has_value();
    if (ambiguous || !can_spell(d_.keys, name))
      return cannot(fmt::format("its keys are {}, unlike '{}'", describe(d_.keys), h_.name(x)));
    if (!h_.is_list(x)) return {};
    if (d_.lists) return {};
    return cannot(fmt::format("'{}' is a list, and it has registers only", h_.name(x)));
  }

  // Then: who reads what.

  void enter_versions() {
    if (!d_.has_values) return;
    for (TxnId t : h_.txns()) {
      for (EventId e : h_.events(t)) {
        if (h_.kind(e) != EventKind::Write) continue;
        const KeyId x = h_.key(e);
        auto& slot = versions_.find_slot(VersionTable::hash(x, h_.value(e)), x, h_.value(e));
        if (!slot.is_fresh() && slot.event() < h_.events(t).front()) {
          doubly_written_.insert(slot.event().index);
        } else {
          versions_.fill(slot, x, h_.value(e), e);
        }
      }
    }
  }

  EventId write_of(KeyId x, Value value) {
    return versions_.find(VersionTable::hash(x, value), x, value);
  }

  // What the reader of the file would take for the initial value of x, without a statement.
  Value implied_initial(KeyId x, bool asks_nil) {
    if (h_.is_list(x) || d_.initial == InitialValues::Nil) return Value::nil();
    if (d_.initial == InitialValues::ZeroOrNil && asks_nil && write_of(x, Value::nil()).is_none())
      return Value::nil();
    return Value::of(0);
  }

  // What reads of a key say about its beginning.
  struct KeyReads {
    bool of_initial = false;            // from T0
    bool of_initial_after_own = false;  // the same, where an own write should have been seen
    bool of_nil = false;
    bool thin_air_zero = false;
    bool thin_air_nil = false;
  };

  Result<void> settle_initial_values() {
    if (!d_.has_values) return {};
    std::vector<KeyReads> reads(h_.num_keys());
    last_write_.assign(h_.num_keys(), 0);
    for (TxnId t : h_.txns()) {
      for (EventId e : h_.events(t)) {
        std::uint32_t& own = last_write_[h_.key(e).index];
        if (h_.is_write(e)) own = e.index + 1;
        if (h_.is_write(e)) continue;
        KeyReads& r = reads[h_.key(e).index];
        if (own > h_.events(t).front().index) {
          r.of_initial_after_own |= h_.writer(e) == kInitialTxn;
          continue;
        }
        const bool thin_air = h_.writer(e).is_none() && h_.is_present(t);
        r.of_initial |= wording_.reads_initial(e);
        r.of_nil |= h_.value(e).is_nil();
        r.thin_air_nil |= thin_air && h_.value(e).is_nil();
        r.thin_air_zero |= thin_air && h_.value(e) == Value::of(0);
      }
    }
    for (KeyId x : h_.keys()) {
      if (auto done = settle_initial_value(x, reads[x.index]); !done) return done;
    }
    return {};
  }

  Result<void> settle_initial_value(KeyId x, const KeyReads& reads) {
    const bool none = d_.initial == InitialValues::None;
    const Value implied = implied_initial(x, reads.of_nil);
    const bool differs = none || !h_.has_initial(x) || h_.initial_value(x) != implied;
    // Would a read that no write explains be taken for a read of the initial state?
    const bool thin_air = implied.is_nil() ? reads.thin_air_nil : reads.thin_air_zero;
    const bool misread = !none && differs && thin_air && write_of(x, implied).is_none();
    if (d_.states_initial) {
      const bool needed = differs && h_.has_initial(x) &&
                          (reads.of_initial || reads.of_initial_after_own || misread);
      if (h_.has_explicit_initial(x) || needed) {
        if (wording_.stated_.empty()) wording_.stated_.resize(h_.num_keys());
        wording_.stated_[x.index] = true;
        return {};
      }
    } else if (h_.has_explicit_initial(x) && differs) {
      return cannot(fmt::format("it cannot state that '{}' starts with {}", h_.name(x),
                                h_.show(h_.initial_value(x))));
    }
    if (none && reads.of_initial)
      return cannot(fmt::format("it has no initial values, and '{}' is read from T0", h_.name(x)));
    if (misread)
      return cannot(
          fmt::format("no transaction wrote the {} that is read from '{}', and it would take it "
                      "for the initial value",
                      h_.show(implied), h_.name(x)));
    return {};
  }

  // One stamp a key tells the last own write, as in the resolver.
  Result<void> word_reads(TxnId t) {
    if (t == kInitialTxn) last_write_.assign(h_.num_keys(), 0);
    const std::uint32_t first = h_.events(t).empty() ? 0 : h_.events(t).front().index;
    for (EventId e : h_.events(t)) {
      std::uint32_t& own = last_write_[h_.key(e).index];
      if (h_.is_write(e)) {
        own = e.index + 1;
      } else if (!h_.is_list(h_.key(e)) && h_.is_present(t)) {
        const bool internal = own > first;
        const bool by_value =
            internal ? is_told_by_own(t, e, EventId{own - 1}) : is_told_by_value(e);
        if (by_value) continue;
        if (auto done = name_writer(t, e); !done) return done;
      }
    }
    return {};
  }

  // A read after an own write is judged by the value alone.
  bool is_told_by_own(TxnId t, EventId e, EventId own) const {
    const auto fault =
        std::lower_bound(h_.faults().begin(), h_.faults().end(), e,
                         [](const ReadFault& f, EventId read) { return f.read < read; });
    const bool faulted = fault != h_.faults().end() && fault->read == e;
    if (!d_.has_values) return !faulted;
    const bool same_verdict = faulted == (h_.value(own) != h_.value(e));
    return same_verdict && (h_.writer(e) == t || !d_.names_writers);
  }

  bool is_told_by_value(EventId e) {
    if (!d_.has_values || h_.is_coarse(e)) return false;
    const KeyId x = h_.key(e);
    const TxnId writer = h_.writer(e);
    if (writer.is_none()) return true;  // settled with the initial values
    const bool stated = wording_.stated_initial(x).has_value();
    if (writer == kInitialTxn) return write_of(x, wording_.value(e)).is_none();
    const EventId write = write_of(x, h_.value(e));
    const auto written = h_.events(writer);
    return !write.is_none() && written.front() <= write && write <= written.back() &&
           !doubly_written_.contains(write.index) &&
           !(stated && h_.initial_value(x) == h_.value(e));
  }

  Result<void> name_writer(TxnId t, EventId e) {
    const TxnId writer = h_.writer(e);
    if (!d_.has_values && !h_.is_external_read(e))
      return cannot(
          fmt::format("{} reads '{}' from no committed transaction's last write, and it "
                      "identifies reads by their writers",
                      show(t), h_.name(h_.key(e))));
    // Whoever is named is read from in its last write.
    EventId last = EventId::none();
    for (EventId w : h_.events(writer)) {
      if (h_.is_write(w) && h_.key(w) == h_.key(e)) last = w;
    }
    if (!last.is_none() && h_.value(last) != h_.value(e))
      return cannot(
          fmt::format("{} reads '{}' = {} from {}, which overwrites it, and others write "
                      "that value, too",
                      show(t), h_.name(h_.key(e)), h_.show(h_.value(e)), show(writer)));
    if (d_.names_writers || (d_.names_initial && writer == kInitialTxn)) {
      if (wording_.by_name_.empty()) wording_.by_name_.resize(h_.num_events());
      wording_.by_name_[e.index] = true;
      return {};
    }
    return cannot(
        fmt::format("{} reads '{}' from {}, whose value {} others write too, and it "
                    "identifies writers by their values",
                    show(t), h_.name(h_.key(e)), show(writer), h_.show(wording_.value(e))));
  }

  const History& h_;
  const Dialect& d_;
  Wording wording_;
  VersionTable versions_;
  std::unordered_set<std::uint32_t> doubly_written_;  // events whose value two transactions write
  std::vector<std::uint32_t> last_write_;             // by key: event + 1
};

Result<Wording> Wording::of(const History& h, const Dialect& dialect) {
  return WordingFinder(h, dialect).find();
}

Value Wording::value(EventId e) const {
  const KeyId x = h_->key(e);
  if (!reads_initial(e) || dialect_->states_initial || h_->is_list(x)) return h_->value(e);
  return dialect_->initial == InitialValues::Nil ? Value::nil() : Value::of(0);
}

}  // namespace isoscope
