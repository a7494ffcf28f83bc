#include "verdict/confirm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/history_of.h"
#include "verdict/naming.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr TxnId kT1{1};
constexpr TxnId kT2{2};
constexpr TxnId kT3{3};
constexpr TxnId kT4{4};

// The position-th event of a transaction.
EventId event(const History& h, TxnId t, std::uint32_t position) {
  return EventId{h.events(t).front().index + position};
}

Edge rw(const History& h, TxnId from, TxnId to, std::uint32_t position,
        std::vector<Edge> path = {}) {
  const EventId read = event(h, from, position);
  return {from, to, EdgeKind::Rw, h.key(read), read, std::move(path)};
}
Edge wr(const History& h, TxnId from, TxnId to, std::uint32_t position) {
  const EventId read = event(h, to, position);
  return {from, to, EdgeKind::Wr, h.key(read), read, {}};
}
Edge so(TxnId from, TxnId to) { return {from, to, EdgeKind::So}; }

Witness commit_order(std::vector<TxnId> order) {
  return {.framework = Framework::Co, .order = std::move(order)};
}

class WriteSkew : public ::testing::Test {
 protected:
  const History h = history_of("s1: [r(x,0) r(y,0) w(x,1)]   s2: [r(x,0) r(y,0) w(y,1)]");
  const std::vector<Edge> cycle = {rw(h, kT1, kT2, 1), rw(h, kT2, kT1, 0)};
};

TEST_F(WriteSkew, IsForbiddenBySerOnly) {
  EXPECT_EQ(check_cycle(h, Logic::Ser, cycle), std::nullopt);
  EXPECT_THAT(check_cycle(h, Logic::Si, cycle),
              Optional(HasSubstr("si allows cycles of this shape")));
  EXPECT_EQ(name_cycle(h, Logic::Ser, cycle), Anomaly::WriteSkew);
}

TEST_F(WriteSkew, WithAnInventedEdgeIsRefused) {
  auto invented = cycle;
  invented[0].read = event(h, kT1, 0);  // a read of x, which T2 does not write
  invented[0].key = h.key(invented[0].read);
  EXPECT_THAT(check_cycle(h, Logic::Ser, invented), Optional(HasSubstr("does not overwrite")));
  invented = {so(kT1, kT2), cycle[1]};
  EXPECT_THAT(check_cycle(h, Logic::Ser, invented), Optional(HasSubstr("not in session order")));
  EXPECT_THAT(check_cycle(h, Logic::Ser, std::vector{cycle[0]}),
              Optional(HasSubstr("a path ends")));
}

TEST(CheckCycle, AcceptsAForcedCommitEdgeOnlyAtItsLevel) {
  const History h = history_of("s1: [w(x,1) w(y,1)] [w(x,2) w(y,2)]   s2: [r(y,1) r(x,2)]");
  // T3 reads y from T1 though it sees T2: T2 commits before T1.
  const Edge forced{
      kT2, kT1, EdgeKind::Co, h.key(event(h, kT3, 0)), event(h, kT3, 0), {wr(h, kT2, kT3, 1)}};
  const std::vector<Edge> cycle = {so(kT1, kT2), forced};
  EXPECT_EQ(check_cycle(h, Logic::Ra, cycle), std::nullopt);
  EXPECT_EQ(check_cycle(h, Logic::Ser, cycle), std::nullopt);
  EXPECT_THAT(check_cycle(h, Logic::Rc, cycle), Optional(HasSubstr("not forced at this level")));
  EXPECT_EQ(name_cycle(h, Logic::Ra, cycle), Anomaly::FracturedRead);
}

TEST(CheckCycle, KnowsTheLostUpdate) {
  const History h = history_of("s1: [r(x,0) w(x,1)]   s2: [r(x,0) w(x,2)]");
  // Whichever is first: say T1. Then T2 overwrites it, but T2's read missed T1.
  const Edge ww{kT1, kT2, EdgeKind::Ww, KeyId{0}, EventId::none(), {rw(h, kT1, kT2, 0)}};
  const std::vector<Edge> cycle = {ww, rw(h, kT2, kT1, 0)};
  EXPECT_EQ(check_cycle(h, Logic::Psi, cycle), std::nullopt);
  EXPECT_EQ(check_cycle(h, Logic::Si, cycle), std::nullopt);
  EXPECT_THAT(check_cycle(h, Logic::Pc, cycle), Optional(HasSubstr("does not follow")));
  EXPECT_EQ(name_cycle(h, Logic::Psi, cycle), Anomaly::LostUpdate);
}

TEST(Forbids, ShapesByLevel) {
  using enum EdgeKind;
  struct Case {
    std::vector<EdgeKind> cycle;
    std::vector<Logic> forbidding;
  };
  const std::vector<Case> cases = {
      {{So, Wr},
       {Logic::Rc, Logic::Ra, Logic::Cc, Logic::Pc, Logic::Ua, Logic::Psi, Logic::Si, Logic::Ser}},
      {{Wr, Rw}, {Logic::Pc, Logic::Ua, Logic::Psi, Logic::Si, Logic::Ser}},
      {{Ww, Rw}, {Logic::Ua, Logic::Psi, Logic::Si, Logic::Ser}},
      {{So, Wr, Rw}, {Logic::Pc, Logic::Psi, Logic::Si, Logic::Ser}},
      {{Wr, Rw, Wr, Rw}, {Logic::Pc, Logic::Si, Logic::Ser}},
      {{Rw, Rw}, {Logic::Ser}},
      {{Wr, Rw, Rw}, {Logic::Ser}},
  };
  for (const Case& c : cases) {
    for (Logic logic : {Logic::Rc, Logic::Ra, Logic::Cc, Logic::Pc, Logic::Ua, Logic::Psi,
                        Logic::Si, Logic::Ser}) {
      const bool expected =
          std::find(c.forbidding.begin(), c.forbidding.end(), logic) != c.forbidding.end();
      EXPECT_EQ(forbids(logic, c.cycle), expected)
          << name_of(logic) << " cycle of " << c.cycle.size();
    }
  }
}

TEST(Replay, FollowsSerialOrders) {
  const History h = history_of("s1: [w(x,1)]   s2: [r(x,1) w(x,2)]   s3: [r(x,1)]");
  EXPECT_EQ(replay(h, Logic::Ser, commit_order({kInitialTxn, kT1, kT3, kT2})), std::nullopt);
  EXPECT_THAT(replay(h, Logic::Ser, commit_order({kInitialTxn, kT1, kT2, kT3})),
              Optional(HasSubstr("sees a later writer")));
  EXPECT_THAT(replay(h, Logic::Ser, commit_order({kInitialTxn, kT3, kT1, kT2})),
              Optional(HasSubstr("before its writer")));
  EXPECT_THAT(replay(h, Logic::Ser, commit_order({kInitialTxn, kT1, kT2})),
              Optional(HasSubstr("lacks it")));
  EXPECT_THAT(replay(h, Logic::Ser, commit_order({kT1, kInitialTxn, kT3, kT2})),
              Optional(HasSubstr("T0 first")));
}

TEST(Replay, TellsPrefixFromCausal) {
  const History h =
      history_of("s1: [w(x,1)]  s2: [w(y,1)]  s3: [r(x,1) r(y,0)]  s4: [r(y,1) r(x,0)]");
  const Witness order = commit_order({kInitialTxn, kT1, kT3, kT2, kT4});
  EXPECT_EQ(replay(h, Logic::Cc, order), std::nullopt);
  EXPECT_THAT(replay(h, Logic::Pc, order), Optional(HasSubstr("T4 reads 'x'")));
}

TEST(Replay, TellsSnapshotFromPrefix) {
  const History h = history_of("s1: [r(x,0) w(x,1)]   s2: [r(x,0) w(x,2)]");
  const Witness order = commit_order({kInitialTxn, kT1, kT2});
  EXPECT_EQ(replay(h, Logic::Pc, order), std::nullopt);
  EXPECT_THAT(replay(h, Logic::Si, order), Optional(HasSubstr("T2 reads 'x'")));
}

TEST(CheckFault, BelievesTheEventsOnly) {
  const History h = history_of("s1: [w(x,1)]!   s2: [r(x,1) r(y,7)]");
  ASSERT_EQ(h.faults().size(), 2U);
  EXPECT_EQ(check_fault(h, h.faults()[0]), std::nullopt);
  EXPECT_EQ(check_fault(h, h.faults()[1]), std::nullopt);
  ReadFault invented = h.faults()[0];
  invented.kind = FaultKind::ThinAirRead;
  EXPECT_THAT(check_fault(h, invented), Optional(HasSubstr("T1 wrote that value")));
  invented.kind = FaultKind::IntermediateRead;
  EXPECT_THAT(check_fault(h, invented), Optional(HasSubstr("did not overwrite")));
}

}  // namespace
}  // namespace isoscope
