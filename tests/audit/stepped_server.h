#pragma once
// Calls of functions on a PostgreSQL server, statement by statement: every statement of a function
// waits at a gate until it is told to go on.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "audit/moments.h"
#include "audit/replay.h"

namespace isoscope::audit {

// A part of a statement is at a place inside of it, and a function that is called twice has its
// statements twice: each has one gate, where the statement begins.
inline std::size_t begin_of_statement(const std::string& text, std::size_t offset) {
  std::size_t begin = 0;
  for (const std::string_view end : {";", "THEN", "LOOP", "BEGIN", "ELSE"}) {
    const std::size_t at = text.rfind(end, offset == 0 ? 0 : offset - 1);
    if (at != std::string::npos) begin = std::max(begin, at + end.size());
  }
  return text.find_first_not_of(" \n", begin);
}

// Between the dollars of a function.
inline bool is_in_body(const std::string& text, std::size_t offset) {
  bool is_inside = false;
  for (std::size_t at = text.find("$$"); at < offset; at = text.find("$$", at + 2))
    is_inside = !is_inside;
  return is_inside;
}

// The text with a call of gate() before every statement that takes a snapshot, which leaves FOUND
// and ROW_COUNT as they are. A query in an expression goes with the statement around it.
inline std::string with_gates(const std::string& text, const sql::Application& app) {
  std::vector<std::size_t> line_starts = {0, 0};  // lines count from 1
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts.push_back(i + 1);
  }
  std::vector<std::size_t> offsets;
  const auto visit = [&](const auto& self, const sql::Function& function,
                         std::span<const sql::Statement> body) -> void {
    bool is_pending = false;
    for (const sql::Statement& statement : body) {
      const auto* select = statement.find<sql::Select>();
      if (select != nullptr && select->in_expression) {
        is_pending = true;
        continue;
      }
      if ((statement.is_sql() && !statement.continues) || is_pending) {
        const std::size_t offset = begin_of_statement(
            text, line_starts[statement.place.line] + statement.place.column - 1);
        // What a view asks for stands in the view: the gate is at the statement that uses it.
        is_pending = !is_in_body(text, offset);
        if (!is_pending) offsets.push_back(offset);
      }
      self(self, function, statement.body());
      self(self, function, statement.otherwise());
    }
  };
  for (const sql::Function& function : app.functions) visit(visit, function, function.body);
  std::ranges::sort(offsets, std::greater<>());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  std::string gated = text;
  for (const std::size_t offset : offsets) gated.insert(offset, "ASSERT gate(); ");
  return gated;
}

// What a function returns, whatever the order of its rows.
inline std::string in_lines(std::vector<std::string> rows) {
  std::ranges::sort(rows);
  return fmt::format("{}", fmt::join(rows, "\n"));
}

// A connection whose statements need not be waited for.
class GatedSession {
 public:
  explicit GatedSession(const std::string& dsn) : connection_(PQconnectdb(dsn.c_str())) {
    EXPECT_EQ(PQstatus(connection_), CONNECTION_OK) << PQerrorMessage(connection_);
    run("SET client_min_messages = warning");
  }
  ~GatedSession() { PQfinish(connection_); }
  GatedSession(const GatedSession&) = delete;
  GatedSession& operator=(const GatedSession&) = delete;

  // The first column of its rows, sorted, a line each; or the SQLSTATE of an error.
  std::string run(const std::string& sql) {
    send(sql);
    return answer();
  }
  void send(const std::string& sql) {
    failed_ = false;
    EXPECT_EQ(PQsendQuery(connection_, sql.c_str()), 1) << PQerrorMessage(connection_);
  }
  bool is_done() {
    PQconsumeInput(connection_);
    return PQisBusy(connection_) == 0;
  }
  std::string answer() {
    std::string answer;
    while (PGresult* result = PQgetResult(connection_)) {
      const auto status = PQresultStatus(result);
      if (status == PGRES_TUPLES_OK) {
        std::vector<std::string> rows;
        for (int row = 0; row < PQntuples(result); ++row)
          rows.emplace_back(PQgetvalue(result, row, 0));
        answer = in_lines(std::move(rows));
      } else if (status != PGRES_COMMAND_OK) {
        const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        answer = state != nullptr ? state : PQerrorMessage(connection_);
        failed_ = true;
      }
      PQclear(result);
    }
    return answer;
  }
  bool failed() const { return failed_; }
  int pid() const { return PQbackendPID(connection_); }

 private:
  PGconn* connection_;
  bool failed_ = false;
};

// Calls that run side by side. Requires: gate() is there (kGate), and functions go through it. Who
// has passed a gate keeps its lock, so that gates are counted by locks: a setting would go back to
// what it was where an EXCEPTION block is rolled back, and the next gate would be passed unasked.
class SteppedCalls {
 public:
  static constexpr const char* kGate =
      "CREATE FUNCTION gate() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN "
      "IF current_setting('iso.call', true) IS NULL THEN RETURN true; END IF; "
      "PERFORM pg_advisory_lock(current_setting('iso.call')::int, (SELECT count(*)::int FROM "
      "pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND "
      "pid = pg_backend_pid() AND classid = current_setting('iso.call')::oid)); "
      "RETURN true; END; $$;";

  SteppedCalls(const std::string& dsn, std::size_t count) : watcher_(dsn), keeper_(dsn) {
    for (std::size_t c = 0; c < count; ++c) {
      calls_.push_back({.session = std::make_unique<GatedSession>(dsn)});
      keeper_.run("SELECT count(pg_advisory_lock(" + std::to_string(c) +
                  ", k)) FROM generate_series(0, 40) AS k");
      calls_.back().session->run("SET iso.call = " + std::to_string(c));
    }
  }

  enum class State : std::uint8_t { AtGate, Waiting, Done };

  void start(std::size_t call, const std::string& level, const std::string& text) {
    calls_[call].session->run("BEGIN ISOLATION LEVEL " + level);
    calls_[call].session->send("SELECT " + text);
    calls_[call].is_started = true;
  }
  bool is_started(std::size_t call) const { return calls_[call].is_started; }
  // Lets the statement behind the next gate begin. Requires: the call is at it.
  void step(std::size_t call) {
    keeper_.run("SELECT pg_advisory_unlock(" + std::to_string(call) + ", " +
                std::to_string(calls_[call].gate++) + ")");
  }
  // Until it is at its next gate, waits for another call, or has nothing more to do. A wait for
  // anybody else (a session that is being closed, the server's own work) passes.
  State settle(std::size_t call) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const std::string pid = std::to_string(calls_[call].session->pid());
    // Gates are on two numbers; one number is a lock of the program.
    const std::string question =
        "SELECT CASE WHEN locktype = 'advisory' AND objsubid = 2 THEN 'gate' || objid "
        "WHEN pg_blocking_pids(pid) && '" +
        pids() + "' THEN 'call' END FROM pg_locks WHERE NOT granted AND pid = " + pid;
    while (std::chrono::steady_clock::now() < give_up) {
      if (calls_[call].session->is_done()) return State::Done;
      const std::string waits = watcher_.run(question);
      if (waits == "gate" + std::to_string(calls_[call].gate)) return State::AtGate;
      if (waits == "call") return State::Waiting;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "call " << call << " does not settle";
    return State::Done;
  }
  // All that have begun and not ended.
  void settle_others() {
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      if (calls_[c].is_started && !calls_[c].is_over) settle(c);
    }
  }
  // Until it has nothing more to do; its answer, and then COMMIT. Nothing if it failed.
  std::optional<std::string> commit(std::size_t call) {
    const std::string answer = calls_[call].session->answer();
    calls_[call].is_over = true;
    const bool failed = calls_[call].session->failed();
    const std::string ended = calls_[call].session->run(failed ? "ROLLBACK" : "COMMIT");
    if (failed) why_failed = answer;
    if (!failed && calls_[call].session->failed()) {
      why_failed = ended;
      return std::nullopt;
    }
    return failed ? std::nullopt : std::optional(answer);
  }
  std::string why_failed;
  // How far each call is, for people.
  std::string story() {
    std::string all;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const std::string pid = std::to_string(calls_[c].session->pid());
      all += fmt::format(
          "\ncall {}: {} gates passed, {}", c, calls_[c].gate,
          watcher_.run("SELECT coalesce(wait_event_type || ' ' || wait_event, state) || ', waits "
                       "for ' || coalesce((SELECT locktype || ' ' || coalesce(objid::text, '') || "
                       "' of ' || pg_blocking_pids(pid)::text FROM pg_locks AS l WHERE NOT granted "
                       "AND l.pid = a.pid), 'nobody') FROM pg_stat_activity AS a WHERE pid = " +
                       pid));
    }
    return all;
  }

 private:
  struct Call {
    std::unique_ptr<GatedSession> session;
    std::size_t gate = 0;
    bool is_started = false;
    bool is_over = false;
  };
  // Of all calls, as an array of the server.
  std::string pids() const {
    std::string all;
    for (const Call& call : calls_)
      all += (all.empty() ? "{" : ",") + std::to_string(call.session->pid());
    return all + "}";
  }
  GatedSession watcher_;
  GatedSession keeper_;
  std::vector<Call> calls_;
};

}  // namespace isoscope::audit
