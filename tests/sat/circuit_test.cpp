#include "sat/circuit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "support/rng.h"

namespace isoscope {
namespace {

TEST(Circuit, FoldsConstants) {
  Circuit c;
  const Signal a = c.input();
  EXPECT_EQ(c.conj({a, kTrue}), a);
  EXPECT_EQ(c.conj({a, kFalse}), kFalse);
  EXPECT_EQ(c.disj({a, kTrue}), kTrue);
  EXPECT_EQ(c.disj({a, kFalse}), a);
  EXPECT_EQ(c.conj({}), kTrue);
  EXPECT_EQ(c.disj({}), kFalse);
  EXPECT_EQ(c.conj({a, a}), a);
  EXPECT_EQ(c.conj({a, !a}), kFalse);
  EXPECT_EQ(c.disj({a, !a}), kTrue);
  EXPECT_EQ(c.iff(a, kTrue), a);
  EXPECT_EQ(c.iff(a, kFalse), !a);
  EXPECT_EQ(c.iff(a, a), kTrue);
  EXPECT_EQ(c.num_gates(), 0U);
}

TEST(Circuit, BuildsEqualGatesOnce) {
  Circuit c;
  const Signal a = c.input();
  const Signal b = c.input();
  EXPECT_EQ(c.conj({a, b}), c.conj({b, a, b}));
  EXPECT_EQ(c.disj({a, b}), !c.conj({!b, !a}));
  EXPECT_EQ(c.num_gates(), 2U);
}

TEST(Circuit, MakesClausesOnlyOfWhatIsRequired) {
  Circuit c;
  const Signal a = c.input();
  const Signal b = c.input();
  const Signal d = c.input();
  const Signal both = c.conj({a, b});
  c.disj({both, d});
  EXPECT_EQ(c.num_clauses(), 0U);
  c.require_any({a, b, d});
  EXPECT_EQ(c.num_clauses(), 1U);
  c.require_any({d, a, b});
  EXPECT_EQ(c.num_clauses(), 1U);
  c.require_any({both, d});  // the clause, and `both` implies a and b
  EXPECT_EQ(c.num_clauses(), 4U);
}

TEST(Circuit, TellsWhichAssumptionsFailed) {
  Budget budget;
  Circuit c;
  const Signal a = c.input();
  const Signal b = c.input();
  const Signal idle = c.input();
  c.require_any({!a, !b});
  ASSERT_EQ(c.solve({a, b, idle}, budget), SatResult::Unsat);
  EXPECT_TRUE(c.failed(a));
  EXPECT_TRUE(c.failed(b));
  EXPECT_FALSE(c.failed(idle));
  ASSERT_EQ(c.solve({a, kFalse}, budget), SatResult::Unsat);
  EXPECT_TRUE(c.failed(kFalse));
  EXPECT_FALSE(c.failed(a));
  ASSERT_EQ(c.solve({a, kTrue, idle}, budget), SatResult::Sat);
  EXPECT_FALSE(c.value(b));
}

TEST(Circuit, RefutesTheConstantFalse) {
  Budget budget;
  Circuit c;
  c.require(kFalse);
  EXPECT_EQ(c.solve({}, budget), SatResult::Unsat);
}

TEST(Circuit, GuessesAsItWasTold) {
  Budget budget;
  Circuit c;
  std::vector<Signal> yes;
  std::vector<Signal> no;
  for (int i = 0; i < 20; ++i) {
    yes.push_back(c.input(true));
    no.push_back(c.input(false));
    c.require_any({yes.back(), no.back()});
  }
  ASSERT_EQ(c.solve({}, budget), SatResult::Sat);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(c.value(yes[static_cast<std::size_t>(i)]));
    EXPECT_FALSE(c.value(no[static_cast<std::size_t>(i)]));
  }
}

TEST(Circuit, AnswersUnknownWhenItsBudgetExpiresHalfWay) {
  Budget expired = Budget::seconds(0);
  ASSERT_TRUE(expired.expired_now());
  Budget budget;
  Circuit c;
  c.watch(expired);
  const Signal a = c.input();
  const Signal b = c.input();
  c.require_any({c.conj({a, b}), c.conj({!a, !b})});
  EXPECT_EQ(c.solve({}, budget), SatResult::Unknown);
}

// Random circuits, whose truth tables are computed beside them gate by gate.
TEST(Circuit, MakesNoMoreGatesWhenTheirBudgetHasExpired) {
  Budget spent = Budget::seconds(1e-9);
  spent.expired_now();
  Circuit c;
  const Signal a = c.input();
  const Signal b = c.input();
  const Signal before = c.conj({a, b});
  c.watch_gates(spent);
  EXPECT_TRUE(c.conj({a, !b}).is_constant());
  EXPECT_TRUE(c.disj({a, b}).is_constant());
  EXPECT_EQ(c.num_gates(), 1U);
  EXPECT_FALSE(before.is_constant());
  Budget budget;
  EXPECT_EQ(c.solve({}, budget), SatResult::Unknown);
}

TEST(Circuit, AgreesWithTruthTables) {
  constexpr std::size_t kInputs = 6;
  constexpr std::uint64_t kColumn[kInputs] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                              0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                              0xffff0000ffff0000, 0xffffffff00000000};
  struct Entry {
    Signal signal;
    std::uint64_t table;
  };
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Budget budget;
    Circuit c;
    std::vector<Entry> entries = {{kTrue, ~std::uint64_t{0}}};
    for (const std::uint64_t column : kColumn) entries.push_back({c.input(), column});
    const auto pick = [&] {
      const Entry e = entries[rng.below(entries.size())];
      return rng.chance(0.5) ? e : Entry{!e.signal, ~e.table};
    };
    std::uint64_t models = ~std::uint64_t{0};
    for (int step = 0; step < 40; ++step) {
      const Entry a = pick();
      const Entry b = pick();
      const Entry d = pick();
      switch (rng.below(4)) {
        case 0:
          entries.push_back({c.conj({a.signal, b.signal, d.signal}), a.table & b.table & d.table});
          break;
        case 1:
          entries.push_back({c.disj({a.signal, b.signal, d.signal}), a.table | b.table | d.table});
          break;
        case 2: entries.push_back({c.iff(a.signal, b.signal), ~(a.table ^ b.table)}); break;
        default: {
          if (step % 8 != 0) break;
          const Entry asked = pick();
          const bool possible = (models & asked.table) != 0;
          ASSERT_EQ(c.solve({asked.signal}, budget), possible ? SatResult::Sat : SatResult::Unsat);
          if (possible) {
            std::size_t row = 0;
            for (std::size_t i = 0; i < kInputs; ++i)
              row |= std::size_t{c.value(entries[i + 1].signal)} << i;
            EXPECT_NE(models >> row & asked.table >> row & 1U, 0U);
            for (const Entry& e : entries) EXPECT_EQ(c.value(e.signal), (e.table >> row & 1U) != 0);
          }
          if (rng.chance(0.5)) {
            models &= b.table | d.table;
            c.require_any({b.signal, d.signal});
          }
        }
      }
    }
    EXPECT_EQ(c.solve({}, budget), models != 0 ? SatResult::Sat : SatResult::Unsat);
  }
}

}  // namespace
}  // namespace isoscope
