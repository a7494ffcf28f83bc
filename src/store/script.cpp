// Which call is each transaction of a history, and what shall its reads see?
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "formats/isopredict.h"
#include "store/directed_policy.h"
#include "store/policies.h"
#include "store/replay.h"
#include "store/store.h"

namespace isoscope::store {

namespace {

constexpr CallId kNoCall = CallId::none();

class ScriptWriter {
 public:
  ScriptWriter(const Executable& program, const History& h, const Budget& budget)
      : program_(program),
        h_(h),
        budget_(budget),
        outline_(program.outline()),
        call_of_(h.num_txns(), kNoCall) {
    for (const ReadFault& fault : h.faults()) faults_.insert(fault.read);
    for (const TxnId t : h.txns()) has_aborted_ = has_aborted_ || h.status(t) == TxnStatus::Aborted;
    for (const Session& session : outline_.sessions) next_.push_back(session.first);
  }

  Result<Script> write(std::span<const TxnId> last) {
    const auto order = commit_order(h_, last);
    if (!order) {
      return Error{.what = "so and wr of the history have a cycle: no run of a program has one"};
    }
    // Where sessions are numbers, the names of transactions are made of numbers too, and mean
    // places even if the program has a session that is called like one.
    const bool is_named = (!has_numbers() && match([&](TxnId t) { return named_call(t); })) ||
                          match([&](TxnId t) { return numbered_call(t); });
    if (!is_named) {
      if (auto fits = match_sessions(); !fits) return fits.error();
    }
    Store store(program_, nullptr, budget_);  // to find out which calls abort
    for (const TxnId t : *order) {
      if (budget_.expired_now()) return limit_error("matching the history with the program");
      if (auto done = is_named ? add_named(t) : add_next(t, store); !done) return done.error();
    }
    if (store.is_expired()) return limit_error("matching the history with the program");
    return std::move(script_);
  }

 private:
  // Does the history give its sessions numbers instead of names?
  bool has_numbers() const {
    return std::ranges::all_of(h_.sessions(),
                               [&](SessionId s) { return h_.given_name(s).is_int(); });
  }
  // alice[2], or alice_2.
  CallId named_call(TxnId t) {
    if (names_.empty()) {
      for (const CallId call : outline_.calls.ids()) {
        names_.emplace(name_of(program_, call), call);
        names_.emplace(plain_name_of(program_, call), call);
      }
    }
    const auto found = names_.find(h_.name(t));
    return found == names_.end() ? kNoCall : found->second;
  }
  // t1_2: the second call of the first session.
  CallId numbered_call(TxnId t) {
    if (numbers_.empty()) {
      for (const CallId call : outline_.calls.ids())
        numbers_.emplace(numbered_name_of(program_, call), call);
    }
    const auto found = numbers_.find(h_.name(t));
    return found == numbers_.end() ? kNoCall : found->second;
  }

  // Does `call_of` know a call for every transaction, so that sessions stay sessions?
  template <class CallOf>
  bool match(CallOf call_of) {
    std::set<ProgramSession> sessions;
    for (const SessionId s : h_.sessions()) {
      CallId before = kNoCall;
      for (const TxnId t : h_.session_txns(s)) {
        const CallId call = call_of(t);
        if (call == kNoCall) return false;
        const ProgramSession session = outline_.calls[call].session;
        const bool follows = before == kNoCall
                                 ? sessions.insert(session).second
                                 : call > before && session == outline_.calls[before].session;
        if (!follows) return false;
        call_of_[t] = call;
        before = call;
      }
    }
    return true;
  }

  // Sessions by their numbers, counted from 1, or by their names, if the program has them all; else
  // by their places.
  Result<void> match_sessions() {
    std::fill(call_of_.begin(), call_of_.end(), kNoCall);
    std::unordered_map<std::string, ProgramSession> by_name;
    for (const ProgramSession s : outline_.sessions.ids())
      by_name.emplace(outline_.sessions[s].name, s);
    const bool are_numbers =
        has_numbers() && std::ranges::all_of(h_.sessions(), [&](SessionId s) {
          const std::int64_t number = h_.given_name(s).bits;
          return number >= 1 && static_cast<std::size_t>(number) <= outline_.sessions.size();
        });
    const bool has_names = !has_numbers() && std::ranges::all_of(h_.sessions(), [&](SessionId s) {
      return by_name.contains(h_.name(s));
    });
    if (!has_names && h_.num_sessions() > outline_.sessions.size()) {
      return Error{.what = fmt::format("the history has {} sessions and the program {}",
                                       h_.num_sessions(), outline_.sessions.size()),
                   .hint = "is it a history of this program?"};
    }
    for (const SessionId s : h_.sessions()) {
      const ProgramSession session =
          are_numbers ? ProgramSession{static_cast<std::uint32_t>(h_.given_name(s).bits - 1)}
          : has_names ? by_name[h_.name(s)]
                      : ProgramSession{s.index};
      const auto txns = h_.session_txns(s);
      if (txns.size() > outline_.sessions[session].size) {
        return Error{
            .where = h_.place(txns[outline_.sessions[session].size]),
            .what = fmt::format("session {} of the history has {} transactions and session {} of "
                                "the program {}",
                                h_.name(s), txns.size(), outline_.sessions[session].name,
                                outline_.sessions[session].size),
            .hint = "is it a history of this program?"};
      }
      session_of_.push_back(session);
      txns_left_.push_back(static_cast<std::uint32_t>(txns.size()));
    }
    return {};
  }

  ScriptedCall scripted(TxnId t, CallId call) const {
    ScriptedCall scripted{.call = call, .direction = Direction::Exact, .txn = t};
    if (h_.status(t) != TxnStatus::Unknown)
      scripted.is_committed = h_.status(t) == TxnStatus::Committed;
    // What an aborted transaction has written is not known to all formats, and changes nothing.
    if (h_.status(t) == TxnStatus::Committed) scripted.writes.emplace();
    for (const EventId e : h_.events(t)) {
      if (!h_.is_read(e)) {
        if (scripted.writes) scripted.writes->push_back(h_.name(h_.key(e)));
        continue;
      }
      WantedRead wanted{.key = h_.name(h_.key(e))};
      if (h_.is_external_read(e)) {
        const TxnId writer = h_.writer(e);
        wanted.writer = writer == kInitialTxn ? kInitialWriter : call_of_[writer];
      } else if (!faults_.contains(e)) {
        continue;  // of an own write
      }
      scripted.reads.push_back(std::move(wanted));
    }
    return scripted;
  }

  void add_aborting(CallId call) {
    script_.calls.push_back({.call = call, .direction = Direction::Free, .is_committed = false});
  }

  Result<void> add_named(TxnId t) {
    const CallId call = call_of_[t];
    CallId& next = next_[outline_.calls[call].session];
    for (; next < call; ++next) add_aborting(next);
    script_.calls.push_back(scripted(t, call));
    ++next;
    return {};
  }

  // The next call of the session; but where the history has fewer transactions than the session has
  // calls, and shows no aborted ones, a call that does not fit and can abort is one of those.
  Result<void> add_next(TxnId t, Store& store) {
    const ProgramSession session = session_of_[h_.session(t)];
    CallId& next = next_[session];
    std::uint32_t& txns_left = txns_left_[h_.session(t)];
    const CallId end = outline_.sessions[session].end();
    LatestPolicy latest;
    for (; next < end && store.is_left_out(next); ++next) {
      if (auto left_out = store.execute(next, latest); !left_out) return left_out.error();
      add_aborting(next);
    }
    for (; !has_aborted_ && end.index - next.index > txns_left; ++next) {
      std::vector<Divergence> divergences;
      const ScriptedCall wanted = scripted(t, next);
      DirectedPolicy directed(store, wanted, divergences);
      auto tried = store.execute(next, directed, TxnEnd::Refused);
      if (!tried) return tried.error();
      if (divergences.empty() && store.last_txn().is_committed &&
          directed.num_reads() == wanted.reads.size())
        break;
      auto aborted = execute_to_abort(store, next);
      if (!aborted) return aborted.error();
      if (*aborted != TxnEnd::Aborted) break;
      add_aborting(next);
    }
    call_of_[t] = next;
    script_.calls.push_back(scripted(t, next));
    std::vector<Divergence> divergences;
    DirectedPolicy directed(store, script_.calls.back(), divergences);
    auto done = store.execute(next, directed);
    if (!done) return done.error();
    ++next;
    --txns_left;
    return {};
  }

  const Executable& program_;
  const History& h_;
  Budget budget_;
  const Outline& outline_;
  ById<TxnId, CallId> call_of_;
  std::set<EventId> faults_;
  bool has_aborted_ = false;
  std::unordered_map<std::string, CallId> names_;
  std::unordered_map<std::string, CallId> numbers_;
  ById<ProgramSession, CallId> next_;
  ById<SessionId, ProgramSession> session_of_;
  ById<SessionId, std::uint32_t> txns_left_;
  Script script_;
};

}  // namespace

Result<Script> script_of(const Executable& program, const History& h, const Budget& budget,
                         std::span<const TxnId> last) {
  return ScriptWriter(program, h, budget).write(last);
}

}  // namespace isoscope::store
