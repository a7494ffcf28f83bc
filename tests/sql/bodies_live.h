#pragma once
// Bodies of functions held against PostgreSQL: calls end on the server as explore says, alone and
// with another call in between. A test has a schema and bodies, each of a number p, which is
// another one in each call, an integer x and a record r.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <span>

#include "live_server.h"
#include "support/rng.h"

namespace isoscope::sql::server {

struct Constructs {
  std::string_view schema;
  std::span<const char* const> bodies;
};

inline std::string text_of(const Constructs& constructs, const std::vector<std::size_t>& bodies) {
  std::string text(constructs.schema);
  std::string sessions;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    text += fmt::format(
        "CREATE FUNCTION f{0}(p int) RETURNS void LANGUAGE plpgsql AS $$ DECLARE x int; r record; "
        "BEGIN {1} END $$;\n",
        i + 1, constructs.bodies[bodies[i]]);
    sessions += fmt::format("-- session s{0}: f{0}({0})\n", i + 1);
  }
  return text + sessions;
}

// What has happened, without values of variables.
inline std::string shape(const RunEnd& end) {
  RunEnd bare = end;
  for (CallEnd& call : bare.calls) call.locals.clear();
  return end_text(bare);
}

class BodiesLive : public LiveServer {
 protected:
  explicit BodiesLive(Constructs constructs) : constructs_(constructs) {}

  // Each session sends BEGIN, its call and COMMIT, in the order of the turns.
  ServerPlay play(const Machine& machine, const std::string& text,
                  const std::vector<std::size_t>& turns) {
    ServerPlay result;
    if (auto made = make_anew(text); !made) {
      result.trouble = made.error().what;
      return result;
    }
    const auto& sessions = machine.program().outline().sessions.entries();
    std::vector<force::ActorScript> actors;
    for (std::size_t s = 0; s < sessions.size(); ++s)
      actors.push_back({.name = sessions[s].name, .script = one_call(s + 1)});
    const ServerAccess server = access_to({.dsn = server_->dsn()}, *monitor_);
    for (const auto& answers : play_scripts(server, std::move(actors), turns, result))
      result.end.calls.push_back(end_of_answers(answers));
    read_rows(machine, server, result);
    return result;
  }

  static force::Script one_call(std::size_t number) {
    return [number, step = 0](const force::Answer* last) mutable -> std::optional<std::string> {
      switch (step++) {
        case 0:
          return fmt::format("BEGIN ISOLATION LEVEL {}; SELECT 1 WHERE false",
                             isolation_name(GetParam()));
        case 1: return fmt::format("SELECT f{0}({0})", number);
        case 2: return last->has_failed() ? "ROLLBACK" : "COMMIT";
        default: return std::nullopt;
      }
    };
  }

  void compare(const std::vector<std::size_t>& bodies, int num_plays, Rng& rng) {
    const std::string text = text_of(constructs_, bodies);
    std::string shown;
    for (const std::size_t body : bodies) shown += std::string(constructs_.bodies[body]) + "\n";
    SCOPED_TRACE(shown);
    const auto program = program_of(text);
    ASSERT_TRUE(program.ok()) << render(program.error());
    const Machine machine = machine_of(**program);
    std::set<std::string> ends;
    ScheduleOptions options;
    options.on_history = [&](const State& state, const std::vector<Choice>&, bool) {
      ends.insert(shape(end_of(machine, state)));
      return true;
    };
    const Schedules all = explore(machine, {}, options);
    ASSERT_FALSE(all.fault);
    for (int i = 0; i < num_plays; ++i) {
      std::vector<std::size_t> turns;
      for (int k = 0; k < 8; ++k) turns.push_back(rng.below(bodies.size()));
      const ServerPlay played = play(machine, text, turns);
      ASSERT_EQ(played.trouble, "");
      const std::string there = shape(played.end);
      if (there.find("40P01") != std::string::npos) continue;
      // BEGIN has taken the snapshot, explore takes it with the first statement. A lock that does
      // not wait can tell: the row has changed in between.
      if (there.find("40001") != std::string::npos && GetParam() != PgLevel::ReadCommitted &&
          (shown.find("NOWAIT") != std::string::npos ||
           shown.find("SKIP LOCKED") != std::string::npos))
        continue;
      ++num_ends_;
      std::string known;
      for (const std::string& end : ends) known += end + "--\n";
      ASSERT_TRUE(ends.contains(there)) << "on the server:\n"
                                        << there << "explore knows:\n"
                                        << known;
    }
  }

  void compare_each() {
    Rng rng(7);
    for (std::size_t body = 0; body < constructs_.bodies.size(); ++body) {
      compare({body}, 1, rng);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(num_ends_, constructs_.bodies.size());
  }

  // Random pairs of the bodies first … first + count - 1; as many as the environment asks for.
  void compare_pairs(std::size_t first, std::size_t count, std::uint64_t seed, int pairs) {
    Rng rng(seed);
    if (const char* asked = std::getenv("ISOSCOPE_SQL_PROGRAMS")) pairs = std::atoi(asked);
    for (int i = 0; i < pairs; ++i) {
      compare({first + rng.below(count), first + rng.below(count)}, 3, rng);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(num_ends_, static_cast<std::size_t>(pairs));
  }

  Constructs constructs_;
};

}  // namespace isoscope::sql::server
