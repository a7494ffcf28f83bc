#include "synth/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "history/builder.h"
#include "support/assert.h"
#include "synth/reasons.h"

namespace isoscope::synthesis {

namespace {

std::uint32_t as_index(int i) { return static_cast<std::uint32_t>(i); }

// Transactions with T0, such that each comes after those that so puts before it.
std::vector<int> along_sessions(const Facts& facts) {
  std::vector<std::pair<int, int>> by_past;
  for (int t = 0; t < facts.txns(); ++t) {
    int past = 0;
    for (int s = 0; s < facts.txns(); ++s) past += facts.so()(s, t).is_true() ? 1 : 0;
    by_past.emplace_back(facts.frame().so_forward ? t : past, t);
  }
  std::sort(by_past.begin(), by_past.end());
  std::vector<int> sequence;
  for (const auto& [past, t] : by_past) sequence.push_back(t);
  return sequence;
}

// Puts each transaction into a session whose last one so puts before it.
std::vector<int> sessions_of(const Facts& facts, const std::vector<int>& sequence) {
  std::vector<int> session(static_cast<std::size_t>(facts.txns()), -1);
  std::vector<int> last;
  for (const int t : sequence) {
    if (t == 0) continue;
    const auto own =
        std::find_if(last.begin(), last.end(), [&](int s) { return facts.so()(s, t).is_true(); });
    session[static_cast<std::size_t>(t)] = static_cast<int>(own - last.begin());
    if (own == last.end()) {
      last.push_back(t);
    } else {
      *own = t;
    }
  }
  return session;
}

class Writer {
 public:
  Writer(const Facts& facts, std::vector<int> sequence)
      : facts_(facts), sequence_(std::move(sequence)), builder_(InitialValues::Zero) {}

  Result<History> write(const std::vector<int>& session) {
    for (int x = 0; x < facts_.keys(); ++x) {
      if (facts_.is_used(x).is_true()) keys_.push_back({x, builder_.key(key_name(named_++))});
    }
    names_.assign(static_cast<std::size_t>(facts_.keys()), -1);
    for (std::size_t i = 0; i < keys_.size(); ++i)
      names_[static_cast<std::size_t>(keys_[i].first)] = static_cast<int>(i);
    const int sessions = 1 + *std::max_element(session.begin(), session.end());
    std::vector<SessionId> ids;
    for (int s = 0; s < sessions; ++s) ids.push_back(builder_.session(fmt::format("s{}", s + 1)));
    for (const int t : sequence_) {
      if (t == 0) continue;
      const TxnId id = builder_.begin(
          ids[static_cast<std::size_t>(session[static_cast<std::size_t>(t)])],
          facts_.aborted(t).is_true() ? TxnStatus::Aborted : TxnStatus::Committed, {});
      if (facts_.frame().real_time) builder_.set_times(id, times_of(t));
      if (facts_.frame().statements) {
        add_statements(id, t);
        continue;
      }
      if (facts_.frame().slots == 0) {
        for (const auto& [x, key] : keys_) add_read(id, x, key, t);
      } else {
        for (int slot = facts_.txns(); slot < facts_.carrier(); ++slot) {
          if (facts_.txn_of(slot) != t) continue;
          for (const auto& [x, key] : keys_) add_read(id, x, key, slot);
        }
      }
      for (const auto& [x, key] : keys_) {
        if (facts_.writes(t, x).is_true()) builder_.write(id, key, value_of(t, x), {});
      }
    }
    return std::move(builder_).build();
  }

 private:
  void add_read(TxnId id, int x, KeyId key, int reader) {
    for (int s = 0; s < facts_.txns(); ++s) {
      if (facts_.wr(x)(s, reader).is_true()) builder_.read(id, key, value_of(s, x), {});
    }
  }
  // The operations of the slots, those of one statement together.
  void add_statements(TxnId id, int t) {
    const int first = facts_.txns() + (t - 1) * facts_.frame().slots;
    const int end = first + facts_.frame().slots;
    for (int slot = first; slot < end && facts_.is_filled(slot).is_true(); ++slot) {
      const bool goes_on = slot + 1 < end && facts_.is_joined(slot + 1).is_true();
      const bool is_joined = facts_.is_joined(slot).is_true();
      if (goes_on && !is_joined) builder_.begin_statement(id);
      for (int x = 0; x < facts_.keys(); ++x) add_operation(id, t, slot, x);
      if (is_joined && !goes_on) builder_.end_statement(id);
    }
  }
  void add_operation(TxnId id, int t, int slot, int x) {
    const auto does = [&](Facts::Operation operation) {
      return facts_.does(operation, slot, x).is_true();
    };
    const auto lock = [&](LockMode mode) {
      int& name = names_[static_cast<std::size_t>(x)];
      if (name < 0) name = named_++;  // not read or written
      builder_.lock(id, builder_.text(key_name(name)), mode, {});
    };
    if (does(Facts::Operation::Lock)) lock(LockMode::Exclusive);
    if (does(Facts::Operation::Share)) lock(LockMode::Share);
    for (const auto& [used, key] : keys_) {
      if (used != x) continue;
      add_read(id, x, key, slot);
      if (does(Facts::Operation::OwnRead)) builder_.read(id, key, value_of(t, x), {});
      if (does(Facts::Operation::Update)) builder_.write(id, key, value_of(t, x), {});
      if (does(Facts::Operation::Insert)) builder_.insert(id, key, value_of(t, x), {});
    }
  }

  // The sets of those that ended before a transaction began are nested, so that their sizes are
  // times at which transactions begin; each ends just before the first that must begin later.
  int start_of(int t) const {
    int before = 0;
    for (int s = 1; s < facts_.txns(); ++s) before += facts_.rt()(s, t).is_true() ? 1 : 0;
    return before;
  }
  TxnTimes times_of(int t) const {
    int end = facts_.txns();
    for (int u = 1; u < facts_.txns(); ++u) {
      if (facts_.rt()(t, u).is_true()) end = std::min(end, start_of(u));
    }
    return {std::int64_t{2} * start_of(t) + 1, std::int64_t{2} * end};
  }

  // The writers of a key write 1, 2, …; T0 writes 0.
  Value value_of(int t, int x) const {
    int value = 0;
    for (const int s : sequence_) {
      if (s == t) break;
      if (facts_.writes(s, x).is_true()) ++value;
    }
    return Value::of(value);
  }

  const Facts& facts_;
  std::vector<int> sequence_;
  HistoryBuilder builder_;
  std::vector<std::pair<int, KeyId>> keys_;
  std::vector<int> names_;  // by key of the facts: which name it has; -1: none yet
  int named_ = 0;
};

// By event: the snapshot of the slot that it comes from. Slots with locks are no events.
std::vector<std::uint32_t> snapshots_of(const Facts& facts, const History& h,
                                        const std::vector<int>& by_slot,
                                        const std::function<TxnId(int)>& id_of) {
  std::vector<std::uint32_t> snap(h.num_events());
  for (int t = 1; t < facts.txns(); ++t) {
    const auto events = h.events(id_of(t));
    auto next = events.begin();
    for (int slot = facts.txns(); slot < facts.carrier(); ++slot) {
      if (facts.txn_of(slot) != t || !facts.is_filled(slot).is_true()) continue;
      bool is_lock = false;
      for (int x = 0; x < facts.keys(); ++x)
        is_lock |= facts.does(Facts::Operation::Lock, slot, x).is_true() ||
                   facts.does(Facts::Operation::Share, slot, x).is_true();
      if (is_lock) continue;
      snap[(*next).index] = as_index(by_slot[static_cast<std::size_t>(slot - facts.txns())]);
      ++next;
    }
    ISO_ASSERT(next == events.end());
  }
  return snap;
}

}  // namespace

SynthFound decode(const Frame& frame, const Candidate& candidate,
                  const std::vector<FoundWitness>& witnesses,
                  const std::vector<const Level*>& allow) {
  Circuit circuit;
  const Facts facts(circuit, frame, candidate);
  const std::vector<int> sequence = along_sessions(facts);
  const std::vector<int> session = sessions_of(facts, sequence);
  Result<History> h = Writer(facts, sequence).write(session);
  ISO_ASSERT(h.ok());  // every value has one writer
  SynthFound found{*std::move(h)};

  std::vector<int> position(sequence.size());
  for (std::size_t i = 0; i < sequence.size(); ++i)
    position[static_cast<std::size_t>(sequence[i])] = static_cast<int>(i);
  const auto id_of = [&](int t) { return TxnId{as_index(position[static_cast<std::size_t>(t)])}; };
  for (std::size_t i = 0; i < witnesses.size(); ++i) {
    Witness w{allow[i]->framework, {}, std::nullopt};
    for (const int t : witnesses[i].order) w.order.push_back(id_of(t));
    if (witnesses[i].vis) {
      w.vis = Relation(sequence.size());
      for (int a = 0; a < facts.txns(); ++a) {
        witnesses[i].vis->for_each_successor(as_index(a), [&](std::size_t b) {
          w.vis->insert(id_of(a).index, id_of(static_cast<int>(b)).index);
        });
      }
    }
    if (!witnesses[i].snap.empty())
      w.snap = snapshots_of(facts, found.history, witnesses[i].snap, id_of);
    found.witnesses.push_back(std::move(w));
  }
  for (const Signal s : facts.operations()) found.operations += s.is_true() ? 1 : 0;
  for (int a = 1; a < facts.txns(); ++a) {
    for (int b = 1; b < facts.txns(); ++b) {
      if (!facts.so()(a, b).is_true()) continue;
      ++found.session_edges;
      bool is_step = session[static_cast<std::size_t>(a)] != session[static_cast<std::size_t>(b)];
      for (int m = 1; m < facts.txns(); ++m) {
        if (facts.so()(a, m).is_true() && facts.so()(m, b).is_true()) is_step = false;
      }
      if (is_step) found.further_so.emplace_back(id_of(a), id_of(b));
    }
  }
  return found;
}

}  // namespace isoscope::synthesis
