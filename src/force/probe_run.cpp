#include "force/probe_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace isoscope::force {
namespace {

ProbeValue number_of(const Cell& cell) {
  if (!cell) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(cell->data(), cell->data() + cell->size(), value);
  return value;
}

// Says the statements; after a failure nothing but ROLLBACK.
Script probe_script(std::vector<std::string> statements) {
  return [statements = std::move(statements),
          next = std::size_t{0}](const Answer* last) mutable -> std::optional<std::string> {
    if (last != nullptr && last->has_failed() && next < statements.size()) {
      next = statements.size();
      return "ROLLBACK";
    }
    if (next >= statements.size()) return std::nullopt;
    return statements[next++];
  };
}

}  // namespace

ProbeRunner::ProbeRunner(Server& server, const std::string& table, const Probe& probe,
                         const DeclaredLevel& level)
    : server_(server), table_(table), probe_(probe), level_(level) {
  for (const ProbeSession& session : probe.sessions) said_.push_back(said_by(session));
}

std::string ProbeRunner::sql_of(const ProbeOp& op) const {
  using Kind = ProbeOp::Kind;
  std::string read = fmt::format("SELECT k, v FROM {} WHERE k = '{}'", table_, op.key);
  switch (op.kind) {
    case Kind::Read: return read;
    case Kind::Lock: return read + " FOR UPDATE";
    case Kind::Share: return read + " " + server_.share_clause();
    case Kind::Write:
      return fmt::format("UPDATE {} SET v = {} WHERE k = '{}'", table_, op.value, op.key);
    case Kind::Insert:
      return fmt::format("INSERT INTO {} VALUES ('{}', {})", table_, op.key, op.value);
    case Kind::Delete: return fmt::format("DELETE FROM {} WHERE k = '{}'", table_, op.key);
    case Kind::Scan: return fmt::format("SELECT k, v FROM {} WHERE k >= 'a' ORDER BY k", table_);
    case Kind::LockScan:
      return fmt::format("SELECT k, v FROM {} WHERE k >= 'a' ORDER BY k FOR UPDATE", table_);
    case Kind::Commit: return "COMMIT";
  }
  return {};
}

ProbeRunner::Words ProbeRunner::said_by(const ProbeSession& session) const {
  const std::vector<ProbeOp>& all = session.ops.entries();
  Words said;
  ProbeTxn txn;
  for (std::size_t first = 0; first < all.size(); ++txn) {
    std::size_t end = first;
    while (end < all.size() && all[end].kind != ProbeOp::Kind::Commit) ++end;
    const bool aborts = session.aborts && end == all.size();
    const auto ops = std::span(all).subspan(first, end - first);
    // A single statement is a transaction by itself.
    const bool is_single = ops.size() == 1 && !aborts;
    const bool only_reads = std::ranges::all_of(ops, &ProbeOp::is_plain) && !aborts;
    if (!is_single) said.push_back({.sql = server_.begin(), .txn = txn, .is_step = false});
    for (std::size_t i = first; i < end; ++i)
      said.push_back({.sql = sql_of(all[i]),
                      .txn = txn,
                      .op = ProbeOpId{static_cast<std::uint32_t>(i)},
                      .is_plain = all[i].is_plain(),
                      .ends = is_single});
    if (!is_single)
      said.push_back({.sql = aborts ? "ROLLBACK" : "COMMIT",
                      .txn = txn,
                      .is_step = !only_reads,
                      .ends = true});
    first = end + 1;
  }
  return said;
}

Turns ProbeRunner::turns_of(const Order& order) const {
  Turns turns;
  ById<ActorId, StatementId> next(said_.size());
  for (const ActorId s : order) {
    bool had_step = false;
    while (said_[s].contains(next[s])) {
      const Said& said = said_[s][next[s]];
      if (had_step && (said.is_step || !said.ends)) break;
      had_step |= said.is_step;
      turns.push_back(s);
      ++next[s];
    }
  }
  return turns;
}

// Each session as often as it has steps, in lexicographic order.
bool ProbeRunner::advance_order() {
  if (order_.empty()) {
    for (const ActorId s : said_.ids())
      order_.insert(order_.end(),
                    static_cast<std::size_t>(std::ranges::count(said_[s], true, &Said::is_step)),
                    s);
    return true;
  }
  return std::ranges::next_permutation(order_).found;
}

// Of neighbours that commute, only one order is played; and none in which a session takes a turn
// while it waits.
bool ProbeRunner::is_reduced(const Order& order) const {
  ById<ActorId, StatementId> next(said_.size());
  bool was_plain = false;
  Order before;
  for (const ActorId s : order) {
    while (!said_[s][next[s]].is_step) ++next[s];
    const bool is_plain = said_[s][next[s]].is_plain;
    ++next[s];
    if (is_plain && was_plain && s < before.back()) return false;
    was_plain = is_plain;
    const auto known = waiting_.find(before);
    if (known != waiting_.end() && known->second.contains(s)) return false;
    before.push_back(s);
  }
  return true;
}

std::optional<ProbeRunner::Order> ProbeRunner::next_order() {
  while (!is_over_ && advance_order())
    if (is_reduced(order_)) return order_;
  is_over_ = true;
  return std::nullopt;
}

Result<void> ProbeRunner::prepare() {
  std::string rows;
  for (const auto& [key, value] : probe_.rows)
    if (value) rows += fmt::format("{}('{}', {})", rows.empty() ? "" : ", ", key, *value);
  std::vector<std::string> statements = {"DELETE FROM " + table_};
  if (!rows.empty()) statements.push_back(fmt::format("INSERT INTO {} VALUES {}", table_, rows));
  for (const std::string& sql : statements)
    if (const Answer answer = server_.run(sql); answer.has_failed())
      return Error{.what = answer.message, .hint = sql};
  std::vector<Script> scripts;
  for (const Words& session : said_) {
    std::vector<std::string> texts;
    for (const Said& said : session) texts.push_back(said.sql);
    scripts.push_back(probe_script(std::move(texts)));
  }
  if (sessions_ != nullptr) {
    sessions_->restart(std::move(scripts));
    return {};
  }
  std::vector<ActorScript> actors;
  for (const ActorId s : probe_.sessions.ids())
    actors.push_back({.name = probe_.sessions[s].name,
                      .script = std::move(scripts[s.index]),
                      .setup = level_.setup});
  auto sessions = server_.open(std::move(actors));
  if (!sessions) return sessions.error();
  sessions_ = std::move(*sessions);
  return {};
}

void ProbeRunner::remember_waits(const Played& played) {
  // The steps as they were really taken, and who waited when the next one came.
  Order taken;
  std::set<ActorId> waiting;
  for (const Moment& moment : played.moments) {
    if (moment.kind == Moment::Kind::Parked) waiting.insert(moment.actor);
    if (moment.kind == Moment::Kind::Answered) waiting.erase(moment.actor);
    if (moment.kind != Moment::Kind::Sent) continue;
    const Words& said = said_[moment.actor];
    if (said.contains(moment.statement) && !said[moment.statement].is_step) continue;
    if (!waiting.empty()) waiting_[taken].insert(waiting.begin(), waiting.end());
    taken.push_back(moment.actor);
  }
}

Result<ProbeRun> ProbeRunner::play_order(const Order& order, Budget& budget) {
  if (auto prepared = prepare(); !prepared) return prepared.error();
  ProbeRun run;
  auto played = play(*sessions_, {.turns = turns_of(order), .plays_rest = true}, budget);
  if (!played) return played.error();
  run.played = std::move(*played);
  if (run.played.end != Played::End::Complete) {
    sessions_.reset();
    return run;
  }
  remember_waits(run.played);
  if (auto gathered = gather(run); !gathered) return gathered.error();
  describe(run);
  tell_steps(run);
  return run;
}

Result<void> ProbeRunner::gather(ProbeRun& run) {
  events_.clear();
  run.reads.resize(probe_.sessions.size());
  run.is_committed.assign(probe_.sessions.size(), true);
  is_committed_.clear();
  for (const Words& session : said_)
    is_committed_.emplace_back(session.back().txn.index + 1, false);
  for (const Moment& moment : run.played.moments) {
    if (moment.kind != Moment::Kind::Answered) continue;
    const ActorId s = moment.actor;
    const Answer& answer = sessions_->answers(s)[moment.statement];
    if (answer.has_failed()) {
      run.errors.insert(answer.error);
      run.is_committed[s] = false;
      continue;
    }
    const std::string& sql = sessions_->statements(s)[moment.statement];
    if (sql == "ROLLBACK" || answer.tag == "ROLLBACK") {
      run.is_committed[s] = false;
      continue;
    }
    const Said& said = said_[s].entries().at(moment.statement.index);
    if (said.ends) is_committed_[s][said.txn] = true;
    if (!said.op) continue;
    const ProbeOp& what = probe_.sessions[s].ops[*said.op];
    Event event{.session = s, .txn = said.txn, .op = *said.op};
    if (!what.is_read()) {
      event.has_effect = answer.affected > 0;
    } else {
      std::map<std::string, ProbeValue> rows;
      for (const Row& row : answer.tables.at(0).rows)
        rows[row.at(0).value_or("")] = number_of(row.at(1));
      for (const auto& [key, initial] : probe_.rows)
        if (what.is_scan() || key == what.key) event.seen.emplace_back(key, rows[key]);
      run.reads[s].push_back({.value = what.is_scan() ? ProbeValue(static_cast<std::int64_t>(
                                                            answer.tables[0].rows.size()))
                                                      : rows[what.key],
                              .txn = said.txn});
    }
    events_.push_back(std::move(event));
  }
  for (const ActorId s : run.reads.ids())
    for (ProbeRead& read : run.reads[s]) read.is_committed = is_committed_[s][read.txn];
  const Answer end = server_.run(fmt::format("SELECT k, v FROM {}", table_));
  if (end.has_failed()) return Error{.what = end.message};
  for (const auto& [key, initial] : probe_.rows) run.end[key] = std::nullopt;
  for (const Row& row : end.tables.at(0).rows)
    run.end[row.at(0).value_or("")] = number_of(row.at(1));
  end_ = run.end;
  return {};
}

Result<std::optional<ProbeRun>> ProbeRunner::next(Budget& budget) {
  const auto order = next_order();
  if (!order) return std::optional<ProbeRun>();
  auto run = play_order(*order, budget);
  if (!run) return run.error();
  return std::optional<ProbeRun>(std::move(*run));
}

}  // namespace isoscope::force
