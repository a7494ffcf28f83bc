#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <isoscope/isoscope.h>

#include <atomic>
#include <stdexcept>

#include "explore/explore.h"
#include "program/program.h"
#include "support/random_program.h"

namespace isoscope::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kLevels[] = {"rc", "ra", "cc", "pc", "psi", "si", "ser", "ua", "true"};

explore::Exploration explored_text(std::string_view text, std::string_view level) {
  const auto program = isoscope::parse_program(text);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  const LevelSet& levels = LevelSet::built_in();
  const auto plan = make_plan(*program, **levels.find(level), levels, explore::Algorithm::Best, {});
  EXPECT_TRUE(plan.ok());
  return explore::explore(*program, *plan, {});
}

void expect_same_counts(const Program& program, std::string_view text) {
  for (const char* level : kLevels) {
    SCOPED_TRACE(level);
    const Exploration all = program.explore({.level = level});
    const explore::Exploration expected = explored_text(text, level);
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.histories, expected.histories);
    EXPECT_EQ(all.violating, expected.violating);
    EXPECT_EQ(all.end_states, expected.end_states);
    const Exploration shared = program.explore({.level = level, .threads = 3});
    EXPECT_EQ(shared.histories, expected.histories);
    EXPECT_EQ(shared.violating, expected.violating);
  }
}

Body withdraw(Value amount) {
  return [amount](Txn& txn) {
    const Value balance = txn.read("acct");
    if (balance < amount) txn.abort();
    txn.write("acct", balance - amount);
  };
}

Body add(std::string key) {
  return [key](Txn& txn) { txn.write(key, txn.read(key) + 1); };
}

Program bank() {
  Program program;
  program.init("acct", 100);
  program.session("alice").transaction("withdraw", withdraw(60));
  program.session("bob").transaction("withdraw", withdraw(60)).transaction("audit", [](Txn& txn) {
    txn.check(txn.read("acct") >= 0, "not negative");
  });
  program.check_at_end("one is covered", [](const api::Run& run) {
    return !(run.txn("alice", 1).committed && run.txn("bob", 1).committed);
  });
  return program;
}

TEST(Api, CountsWhatTheTxnProgramHas) {
  expect_same_counts(bank(), R"(
init acct = 100
txn withdraw(amount) { b := read(acct); if (b < amount) { abort }; write(acct, b - amount) }
session alice { withdraw(60) }
session bob { withdraw(60) { a := read(acct); assert(a >= 0) } }
assert !(committed(alice[1]) && committed(bob[1]))
)");
}

TEST(Api, CountsBranchesLoopsAndComputedKeysLikeTheTxnProgram) {
  Program program;
  program.init("T[1]", 7);
  const auto scan = [](Txn& txn) {
    Value sum = 0;
    for (Value i = 0; i < 3; ++i) {
      const Value row = txn.read("T[" + std::to_string(i) + "]");
      if (row == 0) continue;
      sum += row;
      txn.write("sum", sum);
      sum = txn.read("sum");  // its own write
    }
    if (sum > 20) txn.abort();
    txn.check(sum != 12, "never 12");
  };
  const auto put = [](Value i, Value value) {
    return [=](Txn& txn) { txn.write("T[" + std::to_string(i) + "]", value); };
  };
  program.session("a").transaction("scan", scan).transaction("put", put(0, 5));
  program.session("b").transaction("put", put(1, 9)).transaction("scan", scan);
  program.session("c").transaction("put", put(2, 8));
  expect_same_counts(program, R"(
init T[1] = 7
txn scan() {
  s := 0
  for i in 0 .. 2 { row := read(T[i]); if (row != 0) { s := s + row; write(sum, s); s := read(sum) } }
  if (s > 20) { abort }
  assert(s != 12)
}
txn put(i, v) { write(T[i], v) }
session a { scan() put(0, 5) }
session b { put(1, 9) scan() }
session c { put(2, 8) }
)");
}

// A call of a .txn program as a callable.
Body body_of(const isoscope::Program& text, CallId call) {
  return [&text, call](Txn& txn) {
    const auto executor = text.executor();
    executor->start(call);
    for (;;) {
      const Stop stop = executor->run();
      switch (stop.kind) {
        case StopKind::Read: executor->answer(txn.read(text.keys().name(stop.key))); break;
        case StopKind::Write: txn.write(text.keys().name(stop.key), stop.value); break;
        case StopKind::Abort: txn.abort();
        case StopKind::Commit: return;
        case StopKind::Fault: throw std::runtime_error(executor->fault().what);
      }
    }
  };
}

TEST(Api, CountsRandomProgramsLikeTheirText) {
  const LevelSet& levels = LevelSet::built_in();
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Rng rng(seed * 6007);
    const std::string text = random_program(
        rng, {.sessions = 3, .max_calls = 5, .max_statements = 4, .levels = {"rc", "cc"}});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto parsed = isoscope::parse_program(text);
    ASSERT_TRUE(parsed.ok());
    Program program;
    for (const CallId i : parsed->outline().calls.ids()) {
      const Call& call = parsed->outline().calls[i];
      program.session(parsed->outline().sessions[call.session].name)
          .transaction(call.name, body_of(*parsed, i), call.level);
    }
    // Keys come into being while the text is explored; then their initial values are known.
    for (const char* level : {"rc", "cc", "si", "ser"}) {
      const auto plan =
          make_plan(*parsed, **levels.find(level), levels, explore::Algorithm::Best, {});
      ASSERT_TRUE(plan.ok());
      const explore::Exploration expected = explore::explore(*parsed, *plan, {});
      for (std::uint32_t x = 0; x < parsed->keys().size(); ++x)
        program.init(parsed->keys().name(ProgramKey{x}), parsed->keys().initial(ProgramKey{x}));
      const Exploration all = program.explore({.level = level, .seconds = 20});
      ASSERT_EQ(all.failure, "");
      ASSERT_EQ(all.histories, expected.histories) << level;
    }
  }
}

TEST(Api, GivesTransactionsLevelsOfTheirOwn) {
  Program program;
  const auto read_twice = [](Txn& txn) {
    txn.note("first", txn.read("x"));
    txn.note("second", txn.read("x"));
  };
  program.session("w").transaction("write", [](Txn& txn) { txn.write("x", 1); });
  program.session("r").transaction("read", read_twice, "rc");
  program.check_at_end("the same twice", [](const api::Run& run) {
    return run.txn("r", 1).noted("first") == run.txn("r", 1).noted("second");
  });
  const Exploration weak = program.explore({.level = "cc"});
  EXPECT_EQ(weak.outcome, Outcome::Violated);
  EXPECT_EQ(weak.histories, 3U);
  EXPECT_EQ(weak.violating, 1U);
}

// Many histories end with the same rows; which one it was, only what was read tells.
TEST(Api, FindsAViolationThatOnlyReadsTell) {
  Program program;
  program.init("x", 0);
  for (const char* session : {"a", "b", "c", "d"}) {
    program.session(session).transaction("add", add("x"));
    program.session(session).transaction("add", add("x"));
  }
  program.check_at_end("d is not first, a not last", [](const api::Run& run) {
    return run.txn("d", 2).reads.front() != 1 || run.txn("a", 1).reads.front() != 6;
  });
  const Exploration all = program.explore({.level = "ser"});
  EXPECT_GT(all.histories, 1'000U);
  EXPECT_GT(all.violating, 0U);
  EXPECT_EQ(program.explore({.level = "ser", .stop_at_violation = true}).outcome,
            Outcome::Violated);
}

TEST(Api, ShowsReadsWritersAndNotesOfAViolation) {
  Program program;
  program.init("x", 5);
  program.session("a").transaction("add", add("x"));
  program.session("b").transaction("add", [](Txn& txn) {
    const Value x = txn.read("x");
    txn.note("seen", x);
    txn.write("x", x + 1);
  });
  program.check_at_end("two increments", [](const api::Run& run) {
    return run.txn("a", 1).reads != run.txn("b", 1).reads;
  });
  const Exploration all = program.explore({.level = "cc", .stop_at_violation = true});
  ASSERT_EQ(all.outcome, Outcome::Violated);
  ASSERT_EQ(all.violations.size(), 1U);
  const Violation& violation = all.violations[0];
  EXPECT_THAT(violation.failed, ElementsAre("two increments"));
  EXPECT_THAT(violation.text, HasSubstr("lost update"));
  EXPECT_THAT(violation.text, HasSubstr("r(x) = 5 from T0"));
  const TxnRun& b = violation.run.txn("b", 1);
  EXPECT_TRUE(b.committed);
  EXPECT_THAT(b.reads, ElementsAre(5));
  EXPECT_EQ(b.noted("seen"), 5);
  EXPECT_EQ(b.noted("nothing", -1), -1);
  ASSERT_EQ(b.accesses.size(), 2U);
  EXPECT_TRUE(b.accesses[0].is_read);
  EXPECT_EQ(b.accesses[0].writer, "T0");
  EXPECT_EQ(b.accesses[1].key, "x");
  EXPECT_EQ(b.accesses[1].value, 6);
  EXPECT_EQ(program.explore({.level = "si"}).outcome, Outcome::Complete);
}

TEST(Api, HidesTheWritesOfAnAbortedTransaction) {
  Program program;
  program.session("a").transaction("abort", [](Txn& txn) {
    txn.write("x", 1);
    txn.abort();
  });
  program.session("b").transaction(
      "read", [](Txn& txn) { txn.check(txn.read("x") == 0, "nobody wrote x"); });
  const Exploration all = program.explore({.level = "true"});
  EXPECT_EQ(all.outcome, Outcome::Complete);
  EXPECT_EQ(all.histories, 1U);
}

TEST(Api, TurnsAnExceptionOfABodyIntoAFailure) {
  Program program;
  program.session("a").transaction("write", [](Txn& txn) { txn.write("x", 1); });
  program.session("b").transaction("divide", [](Txn& txn) {
    if (txn.read("x") == 1) throw std::runtime_error("x is one");
  });
  for (const unsigned threads : {1U, 3U}) {
    const Exploration all = program.explore({.level = "cc", .threads = threads});
    EXPECT_EQ(all.outcome, Outcome::Failed);
    EXPECT_EQ(all.failure, "b[1] (divide) threw an exception: x is one");
  }
  Program odd;
  odd.session("a").transaction("odd", [](Txn&) { throw 7; });
  EXPECT_THAT(odd.explore({}).failure, HasSubstr("no std::exception"));
}

TEST(Api, TurnsAnExceptionOfACheckIntoAFailure) {
  Program program = bank();
  program.check_at_end("a wrong name",
                       [](const api::Run& run) { return run.txn("carol", 1).committed; });
  const Exploration all = program.explore({.level = "ser", .threads = 2});
  EXPECT_EQ(all.outcome, Outcome::Failed);
  EXPECT_EQ(all.failure,
            "the check 'a wrong name' threw an exception: there is no transaction carol[1]");
}

TEST(Api, FindsABodyThatDoesNotRepeatItself) {
  std::atomic<Value> runs = 0;
  const std::pair<const char*, Body> bodies[] = {
      {"other values", [&](Txn& txn) { txn.write("x", ++runs); }},
      {"other keys", [&](Txn& txn) { (void)txn.read(++runs % 2 == 0 ? "x" : "y"); }},
      {"other endings",
       [&](Txn& txn) {
         if (++runs % 2 == 0) txn.abort();
       }},
      {"other writes before the last read",
       [&](Txn& txn) {
         (void)txn.read("x");
         txn.write("z", ++runs / 2);  // the same for both runs of a piece
         (void)txn.read("y");
       }},
  };
  for (const auto& [name, body] : bodies) {
    SCOPED_TRACE(name);
    runs = 1;
    Program program;
    program.session("a").transaction("write", [](Txn& txn) { txn.write("x", 1); });
    program.session("b").transaction("unsteady", body);
    const Exploration all = program.explore({.level = "rc"});
    EXPECT_EQ(all.outcome, Outcome::Failed);
    EXPECT_THAT(all.failure, HasSubstr("b[1] (unsteady) does not repeat itself"));
  }
}

TEST(Api, EndsABodyThatCatchesEverything) {
  Program program;
  program.session("a").transaction("write", [](Txn& txn) { txn.write("x", 1); });
  program.session("b").transaction("greedy", [](Txn& txn) {
    try {
      (void)txn.read("x");
    } catch (...) {
      try {
        txn.write("y", 1);  // goes nowhere: the body has been left
      } catch (...) {
        throw std::runtime_error("too late to count");
      }
    }
  });
  const Exploration all = program.explore({.level = "cc"});
  EXPECT_EQ(all.outcome, Outcome::Complete);
  EXPECT_EQ(all.histories, 2U);
}

TEST(Api, EndsABodyWithoutEnd) {
  Program program;
  program.session("a").transaction("endless", [](Txn& txn) {
    for (Value i = 0;; ++i) txn.write("x", i);
  });
  EXPECT_THAT(program.explore({}).failure, HasSubstr("more than 100000 accesses"));
}

TEST(Api, RefusesWhatItCannotExplore) {
  Program program = bank();
  EXPECT_THAT(program.explore({.level = "nonsense"}).failure, HasSubstr("nonsense"));
  EXPECT_THAT(program.explore({.level_definitions = "level x over nothing"}).failure,
              HasSubstr("level_definitions:1"));
  program.session("alice").transaction("none", {});
  EXPECT_EQ(program.explore({}).failure, "alice[2] has no body");
  Program own;
  own.session("a").transaction("t", add("x"), "whatever");
  EXPECT_EQ(own.explore({}).outcome, Outcome::Failed);
  Program large;
  for (int i = 0; i < 300; ++i) large.session("s").transaction("t", add("x"));
  EXPECT_THAT(large.explore({}).failure, HasSubstr("300 transactions"));
}

TEST(Api, TakesLevelsOfTheUser) {
  const Exploration all =
      bank().explore({.level = "mine", .level_definitions = "level mine over co extends si\n"});
  EXPECT_EQ(all.failure, "");
  EXPECT_EQ(all.outcome, Outcome::Complete);
}

TEST(Api, IsUnknownWhenTheTimeIsOver) {
  Program program;
  for (int s = 0; s < 8; ++s) {
    auto session = program.session("s" + std::to_string(s));
    for (int i = 0; i < 3; ++i) {
      session.transaction("both", [](Txn& txn) {
        const Value x = txn.read("x");
        txn.write("y", txn.read("y") + x);
        txn.write("x", x + 1);
      });
    }
  }
  const Exploration all = program.explore({.level = "rc", .seconds = 0.1});
  EXPECT_EQ(all.outcome, Outcome::Unknown);
  EXPECT_TRUE(all.is_out_of_time);
  EXPECT_GT(all.histories, 0U);
}

TEST(Api, ExploresAProgramWithoutTransactions) {
  const Exploration all = Program().explore({});
  EXPECT_EQ(all.outcome, Outcome::Complete);
  EXPECT_EQ(all.histories, 1U);
}

}  // namespace
}  // namespace isoscope::api
