#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "force/gates.h"
#include "force/last_will.h"
#include "force/sessions.h"
#include "support/spelling.h"

namespace isoscope::force {

// Not in the namespace below: fields of what the header declares have this type.
struct PgClose {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using PgConnection = std::unique_ptr<PGconn, PgClose>;

namespace {

Error pg_error(PGconn* connection, const std::string& doing) {
  std::string why = PQerrorMessage(connection);
  while (why.ends_with('\n')) why.pop_back();
  std::replace_if(
      why.begin(), why.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return Error{.what = fmt::format("{}: {}", doing, why)};
}

Result<PgConnection> pg_connect(const std::string& dsn) {
  PgConnection made(PQconnectdb(dsn.c_str()));
  if (PQstatus(made.get()) != CONNECTION_OK) {
    Error error = pg_error(made.get(), "cannot connect to the server");
    error.hint = "--dsn is read as psql reads it";
    return error;
  }
  PQsetNoticeProcessor(
      made.get(), [](void*, const char*) {}, nullptr);
  return made;
}

bool is_number_type(Oid type) {
  // oid, int8, int2, int4, float4, float8, numeric
  constexpr Oid kNumbers[] = {26, 20, 21, 23, 700, 701, 1700};
  return std::ranges::find(kNumbers, type) != std::end(kNumbers);
}

Table table_of(const PGresult* result) {
  Table table;
  const int columns = PQnfields(result);
  for (int j = 0; j < columns; ++j) {
    table.columns.emplace_back(PQfname(result, j));
    table.is_number.push_back(is_number_type(PQftype(result, j)));
  }
  for (int i = 0; i < PQntuples(result); ++i) {
    Row row;
    for (int j = 0; j < columns; ++j) {
      if (PQgetisnull(result, i, j) != 0) {
        row.emplace_back();
      } else {
        row.emplace_back(std::string(PQgetvalue(result, i, j),
                                     static_cast<std::size_t>(PQgetlength(result, i, j))));
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Adds one result of a text to the answer.
void gather(PGresult* result, Answer& answer) {
  switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK: answer.tables.push_back(table_of(result)); [[fallthrough]];
    case PGRES_COMMAND_OK: {
      answer.tag = PQcmdStatus(result);
      answer.may_hold_several |= answer.has_ended_txn;
      answer.has_ended_txn |= answer.tag == "COMMIT" || answer.tag == "ROLLBACK";
      const std::string count = PQcmdTuples(result);
      answer.affected = 0;
      std::from_chars(count.data(), count.data() + count.size(), answer.affected);
      break;
    }
    case PGRES_EMPTY_QUERY: break;
    default: {
      const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
      const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY);
      answer.severity = severity != nullptr ? severity : "FATAL";
      answer.error = state != nullptr ? state : "08006";  // the connection is gone
      answer.message = message != nullptr ? message : PQresultErrorMessage(result);
      while (answer.message.ends_with('\n')) answer.message.pop_back();
    }
  }
}

// Of the advisory locks that are an actor's gates.
int gate_class(ActorId actor) { return kFirstGateClass + static_cast<int>(actor.index); }

bool has_word_chain(std::string_view sql) {
  return lower_case(sql).find("chain") != std::string::npos;
}

void keep_notice(void* notices, const PGresult* result) {
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (message == nullptr) return;
  if (std::string_view(message).starts_with(kGateNotice) ||
      std::string_view(message).starts_with(kRowsNotice))
    static_cast<std::vector<std::string>*>(notices)->emplace_back(message);
}

}  // namespace

Script say(std::vector<std::string> statements) {
  return [statements = std::move(statements),
          next = std::size_t{0}](const Answer*) mutable -> std::optional<std::string> {
    if (next == statements.size()) return std::nullopt;
    return statements[next++];
  };
}

Script say_until_failure(std::vector<std::string> statements) {
  return [statements = std::move(statements),
          next = std::size_t{0}](const Answer* last) mutable -> std::optional<std::string> {
    if (next < statements.size() && last != nullptr && last->has_failed())
      next = statements.size() - 1;
    if (next == statements.size()) return std::nullopt;
    return statements[next++];
  };
}

struct PgMonitor::State {
  PgConnection connection;
};

PgMonitor::PgMonitor(std::unique_ptr<State> state) : state_(std::move(state)) {}
PgMonitor::~PgMonitor() = default;

Result<std::unique_ptr<PgMonitor>> PgMonitor::open(const std::string& dsn) {
  auto connection = pg_connect(dsn);
  if (!connection) return connection.error();
  auto state = std::make_unique<State>();
  state->connection = std::move(*connection);
  return std::unique_ptr<PgMonitor>(new PgMonitor(std::move(state)));
}

Answer PgMonitor::answer(const std::string& sql) {
  PGconn* connection = state_->connection.get();
  Answer answer;
  if (PQsendQuery(connection, sql.c_str()) != 1) {
    answer.error = "08006";
    answer.message = PQerrorMessage(connection);
    return answer;
  }
  while (PGresult* result = PQgetResult(connection)) {
    gather(result, answer);
    PQclear(result);
  }
  return answer;
}

Result<std::vector<Row>> PgMonitor::query(const std::string& sql) {
  PGconn* connection = state_->connection.get();
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql.c_str()),
                                                             PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY)
    return pg_error(connection, "the server does not answer");
  return table_of(result.get()).rows;
}

Result<std::vector<Wait>> PgMonitor::waits(const ById<ActorId, int>& pids) {
  std::vector<int> asked = pids.entries();
  std::erase(asked, 0);
  std::vector<Wait> waits;
  if (asked.empty()) return waits;
  auto rows =
      query(fmt::format("SELECT p, b FROM unnest(ARRAY[{}]) p, "
                        "unnest(pg_blocking_pids(p) || pg_safe_snapshot_blocking_pids(p)) b",
                        fmt::join(asked, ",")));
  if (!rows) return rows.error();
  const auto actor_of = [&](const Cell& pid) {
    const auto place = std::ranges::find(pids, pid ? std::atoi(pid->c_str()) : 0);
    return ActorId{static_cast<std::uint32_t>(place - pids.begin())};
  };
  for (const Row& row : *rows) {
    const ActorId actor = actor_of(row[0]);
    const ActorId holder = actor_of(row[1]);
    auto wait = std::ranges::find(waits, actor, &Wait::actor);
    if (wait == waits.end()) wait = waits.insert(wait, Wait{.actor = actor});
    if (!pids.contains(holder)) {
      wait->is_outside = true;
    } else if (std::ranges::find(wait->holders, holder) == wait->holders.end()) {
      wait->holders.push_back(holder);
    }
  }
  return waits;
}

struct PgSessions::State {
  struct Actor {
    std::string name;
    Script script;
    PgConnection connection = {};
    CleanupIfKilled if_killed = {};
    std::optional<std::string> next = {};
    bool is_busy = false;
    bool is_at_gate = false;  // and busy
    int next_gate = 1;        // the first one is open
    Answer gathered = {};
    std::unique_ptr<std::vector<std::string>> notices = {};  // since the last answer
    ById<StatementId, std::string> sent = {};
    Answers answers = {};
  };
  Options options;
  std::unique_ptr<PgMonitor> monitor = {};
  std::unique_ptr<PgMonitor> keeper = {};  // of the gates
  int keeper_pid = 0;
  ById<ActorId, Actor> actors = {};
};

PgSessions::PgSessions(std::unique_ptr<State> state) : state_(std::move(state)) {}

PgSessions::~PgSessions() {
  // All are asked before the first is waited for: they may wait for each other.
  for (const State::Actor& actor : state_->actors) {
    if (!actor.is_busy) continue;
    const std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> cancel(
        PQgetCancel(actor.connection.get()), PQfreeCancel);
    char why[256];
    if (cancel != nullptr) PQcancel(cancel.get(), why, sizeof why);
  }
}

Result<std::unique_ptr<PgSessions>> PgSessions::open(Options options,
                                                     std::vector<ActorScript> actors) {
  auto state = std::make_unique<State>();
  auto monitor = PgMonitor::open(options.monitor.empty() ? options.dsn : options.monitor);
  if (!monitor) return monitor.error();
  state->monitor = std::move(*monitor);
  state->options = std::move(options);
  if (state->options.has_gates) {
    auto keeper = PgMonitor::open(state->options.dsn);
    if (!keeper) return keeper.error();
    auto locked = (*keeper)->query(fmt::format(
        "SELECT pg_backend_pid(), pg_advisory_lock({} + a, g) FROM generate_series(0, {}) a, "
        "generate_series(1, {}) g",
        kFirstGateClass, static_cast<int>(actors.size()) - 1, kGatesOfACall - 1));
    if (!locked) return locked.error();
    if (!locked->empty()) state->keeper_pid = std::atoi(locked->at(0).at(0)->c_str());
    state->keeper = std::move(*keeper);
  }
  std::unique_ptr<PgSessions> made(new PgSessions(std::move(state)));
  for (ActorScript& actor : actors) {
    auto connection = pg_connect(made->state_->options.dsn);
    if (!connection) return connection.error();
    PGconn* open = connection->get();
    // A deadlock is the server's to end; it may do so soon. Only a superuser may say so.
    PQclear(PQexec(open, "SET deadlock_timeout = '20ms'"));
    PQclear(
        PQexec(open, fmt::format("SET application_name = '{}{}'", kActorName, actor.name).c_str()));
    if (made->state_->options.has_gates)
      actor.setup.push_back(
          fmt::format("SET isoscope.actor = {}", gate_class(made->state_->actors.next_id())));
    const std::string& direct = made->state_->options.monitor;
    CleanupIfKilled if_killed = CleanupIfKilled::of_sql(
        direct.empty() ? made->state_->options.dsn : direct,
        fmt::format("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {} AND "
                    "starts_with(application_name, '{}')",
                    PQbackendPID(open), kActorName));
    for (const std::string& sql : actor.setup) {
      const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(open, sql.c_str()),
                                                                 PQclear);
      Answer answer;
      gather(result.get(), answer);
      if (answer.has_failed())
        return Error{
            .what = fmt::format("the setup of session {} failed: {}", actor.name, answer.message),
            .hint = sql};
    }
    if (PQsetnonblocking(open, 1) != 0) return pg_error(open, "the connection");
    auto next = actor.script(nullptr);
    auto notices = std::make_unique<std::vector<std::string>>();
    PQsetNoticeReceiver(open, keep_notice, notices.get());
    made->state_->actors.push_back({.name = actor.name,
                                    .script = std::move(actor.script),
                                    .connection = std::move(*connection),
                                    .if_killed = std::move(if_killed),
                                    .next = std::move(next),
                                    .notices = std::move(notices)});
  }
  return made;
}

std::size_t PgSessions::size() const { return state_->actors.size(); }

ActorState PgSessions::state(ActorId actor) const {
  const State::Actor& a = state_->actors[actor];
  if (a.is_at_gate) return ActorState::Ready;
  if (a.is_busy) return ActorState::Busy;
  return a.next ? ActorState::Ready : ActorState::Done;
}

Result<void> PgSessions::release(ActorId actor) {
  State::Actor& a = state_->actors[actor];
  if (a.is_at_gate) {
    a.is_at_gate = false;
    a.sent.emplace_back();
    auto opened = state_->keeper->query(
        fmt::format("SELECT pg_advisory_unlock({}, {})", gate_class(actor), a.next_gate++));
    if (!opened) return opened.error();
    return {};
  }
  ISO_ASSERT(a.next && !a.is_busy);
  a.sent.push_back(std::move(*a.next));
  a.next.reset();
  if (PQsendQuery(a.connection.get(), a.sent.back().c_str()) != 1)
    return pg_error(a.connection.get(), fmt::format("session {}", a.name));
  a.is_busy = true;
  a.gathered = {};
  return {};
}

Result<void> PgSessions::pump(int milliseconds) {
  std::vector<pollfd> watched;
  for (State::Actor& a : state_->actors) {
    if (!a.is_busy) continue;
    const bool is_unsent = PQflush(a.connection.get()) == 1;
    watched.push_back({.fd = PQsocket(a.connection.get()),
                       .events = static_cast<short>(is_unsent ? POLLIN | POLLOUT : POLLIN),
                       .revents = 0});
  }
  if (state_->options.idle) {
    state_->options.idle(milliseconds);
  } else if (!watched.empty()) {
    ::poll(watched.data(), watched.size(), milliseconds);
  }
  for (State::Actor& a : state_->actors) {
    if (!a.is_busy) continue;
    PGconn* connection = a.connection.get();
    // A connection that broke has a last result that says so.
    if (PQconsumeInput(connection) != 1 && PQstatus(connection) != CONNECTION_BAD)
      return pg_error(connection, fmt::format("session {}", a.name));
    while (PQisBusy(connection) == 0) {
      PGresult* result = PQgetResult(connection);
      if (result == nullptr) {
        a.is_busy = false;
        a.gathered.is_in_txn = PQtransactionStatus(connection) != PQTRANS_IDLE;
        // COMMIT AND CHAIN. (ROLLBACK TO SAVEPOINT also answers ROLLBACK, and ends nothing.)
        a.gathered.may_hold_several |=
            a.gathered.is_in_txn && a.gathered.has_ended_txn &&
            (a.gathered.tag == "COMMIT" || has_word_chain(a.sent.back()));
        a.gathered.notices = std::exchange(*a.notices, {});
        a.answers.push_back(std::move(a.gathered));
        a.next = a.script(&a.answers.back());
        break;
      }
      gather(result, a.gathered);
      PQclear(result);
    }
  }
  return {};
}

Result<std::vector<Wait>> PgSessions::waits() {
  ById<ActorId, int> pids;
  for (const State::Actor& a : state_->actors) pids.push_back(PQbackendPID(a.connection.get()));
  // The keeper is no actor, and is asked about as if it were one more.
  const ActorId keeper = pids.next_id();
  if (state_->keeper_pid != 0) pids.push_back(state_->keeper_pid);
  auto waits = state_->monitor->waits(pids);
  if (!waits) return waits.error();
  std::erase_if(*waits, [&](const Wait& wait) {
    if (wait.actor == keeper) return true;  // it waits for none
    State::Actor& a = state_->actors[wait.actor];
    if (!a.is_busy || a.is_at_gate) return true;
    // Whom the keeper holds up stands at a gate.
    if (std::ranges::find(wait.holders, keeper) == wait.holders.end()) return false;
    a.is_at_gate = true;
    a.answers.push_back({.tag = "gate", .is_in_txn = true, .notices = {}});
    return true;
  });
  return waits;
}

const Answers& PgSessions::answers(ActorId actor) const { return state_->actors[actor].answers; }
const ById<StatementId, std::string>& PgSessions::statements(ActorId actor) const {
  return state_->actors[actor].sent;
}

std::uint64_t PgSessions::process(ActorId actor) const {
  return static_cast<std::uint64_t>(PQbackendPID(state_->actors[actor].connection.get()));
}

void PgSessions::restart(std::vector<Script> scripts) {
  ISO_ASSERT(scripts.size() == state_->actors.size());
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    State::Actor& a = state_->actors.entries()[i];
    ISO_ASSERT(!a.is_busy);
    a.sent.clear();
    a.answers.clear();
    a.script = std::move(scripts[i]);
    a.next = a.script(nullptr);
  }
}

}  // namespace isoscope::force
