// What came out of a run of a probe: for people, for its anomaly, and as a history.
#include <fmt/format.h>

#include <algorithm>

#include "force/probe_run.h"
#include "history/builder.h"

namespace isoscope::force {
namespace {

std::string value_text(const ProbeValue& value) {
  return value ? std::to_string(*value) : std::string("nil");
}

std::string op_text(const ProbeOp& op) {
  using Kind = ProbeOp::Kind;
  switch (op.kind) {
    case Kind::Read: return fmt::format("r({})", op.key);
    case Kind::Lock: return fmt::format("l({})", op.key);
    case Kind::Share: return fmt::format("ls({})", op.key);
    case Kind::Write: return fmt::format("w({},{})", op.key, op.value);
    case Kind::Insert: return fmt::format("i({},{})", op.key, op.value);
    case Kind::Delete: return fmt::format("d({})", op.key);
    case Kind::Scan: return "scan";
    case Kind::LockScan: return "lscan";
    case Kind::Commit: return "commit";
  }
  return {};
}

}  // namespace

bool is_anomalous(const Probe& probe, const ProbeRun& run) {
  const auto holds = [&](const ProbeTerm& term) {
    switch (term.kind) {
      case ProbeTerm::Kind::Committed: return bool{run.is_committed[term.session]};
      case ProbeTerm::Kind::Read:
        return run.reads[term.session].contains(term.read) &&
               run.reads[term.session][term.read].is_committed &&
               run.reads[term.session][term.read].value == term.value;
      case ProbeTerm::Kind::End: return run.end.at(term.key) == term.value;
    }
    return false;
  };
  return std::ranges::any_of(probe.anomalies,
                             [&](const auto& terms) { return std::ranges::all_of(terms, holds); });
}

void ProbeRunner::describe(ProbeRun& run) const {
  ById<ActorId, std::string> by_session(probe_.sessions.size());
  for (const Event& event : events_) {
    const ProbeOp& op = probe_.sessions[event.session].ops[event.op];
    std::string text = op_text(op);
    if (op.is_scan()) {
      for (const auto& [key, value] : event.seen)
        if (value) text += fmt::format(" {}={}", key, *value);
    } else if (op.is_read()) {
      text += "=" + value_text(event.seen.at(0).second);
    } else if (!event.has_effect) {
      text += " no row";
    }
    run.text += fmt::format("{}{}: {}", run.text.empty() ? "" : "  ",
                            probe_.sessions[event.session].name, text);
    by_session[event.session] += text + ' ';
  }
  for (const ActorId s : by_session.ids())
    run.outcome += fmt::format("{}{}\n", by_session[s], run.is_committed[s] ? "" : "!");
  for (const ActorId s : probe_.sessions.ids())
    if (!run.is_committed[s]) run.text += fmt::format("  {} rolls back", probe_.sessions[s].name);
  run.text += "  end:";
  for (const auto& [key, value] : run.end) {
    run.text += fmt::format(" {}={}", key, value_text(value));
    run.outcome += fmt::format("{}={} ", key, value_text(value));
  }
}

void ProbeRunner::tell_steps(ProbeRun& run) const {
  for (const Moment& moment : run.played.moments) {
    if (moment.kind != Moment::Kind::Answered && moment.kind != Moment::Kind::Parked) continue;
    ProbeStep step{.session = moment.actor,
                   .sql = sessions_->statements(moment.actor)[moment.statement]};
    // The schema is ours and means nothing.
    for (std::size_t at = step.sql.find(table_); at != std::string::npos;
         at = step.sql.find(table_))
      step.sql.replace(at, table_.size(), "t");
    if (moment.kind == Moment::Kind::Parked) {
      step.waits_for = moment.holders;
    } else {
      const Answer& answer = sessions_->answers(moment.actor)[moment.statement];
      if (answer.has_failed()) {
        step.answer = fmt::format("{} {}", answer.error, answer.message);
      } else if (answer.tables.empty()) {
        step.answer = answer.tag;
      } else {
        for (const Row& row : answer.tables[0].rows)
          step.answer += fmt::format("{}{} {}", step.answer.empty() ? "" : ", ",
                                     row.at(0).value_or(""), row.at(1).value_or("NULL"));
        if (step.answer.empty()) step.answer = "no row";
      }
    }
    run.steps.push_back(std::move(step));
  }
}

Result<History> ProbeRunner::history() const {
  HistoryBuilder b(InitialValues::None);
  const auto value_of = [](const ProbeValue& value) {
    return value ? Value::of(*value) : Value::nil();
  };
  for (const auto& [key, value] : probe_.rows) b.set_initial(b.key(key), value_of(value), {});
  std::map<std::pair<ActorId, ProbeTxn>, TxnId> txns;  // those that have done something
  for (const ActorId s : said_.ids()) {
    for (const ProbeTxn t : is_committed_[s].ids()) {
      const bool is_there =
          is_committed_[s][t] || std::ranges::any_of(events_, [&](const Event& e) {
            return e.session == s && e.txn == t;
          });
      if (is_there)
        txns[{s, t}] = b.begin(b.session(probe_.sessions[s].name),
                               is_committed_[s][t] ? TxnStatus::Committed : TxnStatus::Aborted, {});
    }
  }
  for (const Event& event : events_) {
    const TxnId t = txns.at({event.session, event.txn});
    const ProbeOp& op = probe_.sessions[event.session].ops[event.op];
    b.begin_statement(t);
    for (const auto& [key, value] : event.seen) {
      if (is_committed_[event.session][event.txn]) b.read(t, b.key(key), value_of(value), {});
      if (!op.is_plain() && value)
        b.lock(t, b.text(key),
               op.kind == ProbeOp::Kind::Share ? LockMode::Share : LockMode::Exclusive, {});
    }
    if (event.has_effect)
      b.write(t, b.key(op.key),
              op.kind == ProbeOp::Kind::Delete ? Value::nil() : Value::of(op.value), {});
    b.end_statement(t);
  }
  const TxnId last = b.begin(b.session("end"), TxnStatus::Committed, {});
  for (const auto& [key, value] : end_) b.read(last, b.key(key), value_of(value), {});
  return std::move(b).build_open();
}

}  // namespace isoscope::force
