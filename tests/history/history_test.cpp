#include "history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "history/builder.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kCommitted = TxnStatus::Committed;
constexpr auto kAborted = TxnStatus::Aborted;
constexpr auto kUnknown = TxnStatus::Unknown;

// Two sessions: s1 writes x, s2 reads it.
TEST(History, ReadsNameTheirWriter) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  const TxnId t1 = b.begin(b.session("s1"), kCommitted, {1, 1});
  b.write(t1, x, Value::of(1), {1, 2});
  const TxnId t2 = b.begin(b.session("s2"), kCommitted, {2, 1});
  b.read(t2, x, Value::of(1), {2, 2});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  const EventId read = h->events(t2).front();
  EXPECT_TRUE(h->is_external_read(read));
  EXPECT_EQ(h->writer(read), t1);
  EXPECT_THAT(h->writers(x), ElementsAre(kInitialTxn, t1));
  EXPECT_THAT(h->reads_from(), ElementsAre(ReadFrom{x, t1, t2}));
  EXPECT_EQ(h->place(read), (Place{2, 2}));
  EXPECT_EQ(h->txn(read), t2);
  EXPECT_TRUE(h->so(kInitialTxn, t1));
  EXPECT_FALSE(h->so(t1, t2));
}

// Events and locks of two transactions arrive in turns.
TEST(History, KeepsStatementsAndLocksOfInterleavedTransactions) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("t[1].x");
  const TxnId t1 = b.begin(b.session("s1"), kCommitted, {});
  const TxnId t2 = b.begin(b.session("s2"), kCommitted, {});
  b.write(t2, x, Value::of(1), {});
  b.begin_statement(t1);
  b.lock(t1, b.text("t[1]"), LockMode::Exclusive, {});
  b.begin_statement(t2);
  b.write(t2, x, Value::of(2), {});
  b.read(t1, x, Value::of(0), {});
  b.lock(t2, Value::of(7), LockMode::Share, {});
  b.end_statement(t2);
  b.insert(t2, b.key("y"), Value::of(5), {});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->num_statements(t1), 1U);
  EXPECT_EQ(h->num_statements(t2), 3U);
  ASSERT_EQ(h->locks().size(), 2U);
  EXPECT_EQ(h->locks()[0].txn, t1);
  EXPECT_EQ(h->locks()[0].before, h->events(t1).front());
  EXPECT_EQ(h->locks()[0].row, h->row(x));
  EXPECT_EQ(h->locks()[1].statement, 1U);
  EXPECT_EQ(h->locks()[1].before, h->events(t2).back());
  EXPECT_EQ(h->name(h->locks()[1].row), "7");
  EXPECT_EQ(h->statement(h->events(t2).back()), 2U);
  EXPECT_TRUE(h->is_insert(h->events(t2).back()));
}

TEST(History, KnowsRealTime) {
  HistoryBuilder b(InitialValues::Zero);
  std::vector<TxnId> t = {kInitialTxn};
  for (const char* s : {"a", "b", "c", "d"}) t.push_back(b.begin(b.session(s), kCommitted, {}));
  b.set_times(t[1], {1, 2});
  b.set_times(t[2], {2, 3});
  b.set_times(t[3], {.start = 4});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_FALSE(h->rt(t[1], t[2])) << "equal times are concurrent";
  EXPECT_TRUE(h->rt(t[1], t[3]));
  EXPECT_TRUE(h->rt(t[2], t[3]));
  EXPECT_FALSE(h->rt(t[3], t[1]));
  EXPECT_FALSE(h->rt(t[1], t[4])) << "it has no times";
  EXPECT_FALSE(h->rt(t[0], t[1]));
}

TEST(History, GroupsInterleavedTransactions) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key(7);
  const TxnId t1 = b.begin(b.session(0), kCommitted, {1, 1});
  const TxnId t2 = b.begin(b.session(1), kCommitted, {2, 1});
  b.write(t1, x, Value::of(1), {1, 1});
  b.read(t2, x, Value::of(2), {2, 1});
  b.write(t1, x, Value::of(2), {3, 1});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->events(t1).size(), 2U);
  EXPECT_FALSE(h->is_final_write(h->events(t1).front()));
  EXPECT_TRUE(h->is_final_write(h->events(t1).back()));
  EXPECT_EQ(h->writer(h->events(t2).front()), t1);
  EXPECT_EQ(h->place(h->events(t1).back()).line, 3U);
}

struct FaultCase {
  const char* name;
  FaultKind kind;
  void (*fill)(HistoryBuilder& b, TxnId t1, TxnId t2, KeyId x);
  friend void PrintTo(const FaultCase& c, std::ostream* out) { *out << c.name; }
};

class HistoryFaults : public ::testing::TestWithParam<FaultCase> {};

TEST_P(HistoryFaults, AreNamed) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  const TxnId t1 = b.begin(b.session("s1"), kCommitted, {1, 1});
  const TxnId t2 = b.begin(b.session("s2"), kCommitted, {2, 1});
  GetParam().fill(b, t1, t2, x);
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok()) << render(h.error());
  ASSERT_EQ(h->faults().size(), 1U);
  EXPECT_EQ(h->faults()[0].kind, GetParam().kind);
  EXPECT_FALSE(h->is_external_read(h->faults()[0].read));
}

INSTANTIATE_TEST_SUITE_P(
    All, HistoryFaults,
    ::testing::Values(FaultCase{"ThinAir", FaultKind::ThinAirRead,
                                [](HistoryBuilder& b, TxnId, TxnId t2, KeyId x) {
                                  b.read(t2, x, Value::of(9), {2, 1});
                                }},
                      FaultCase{"Aborted", FaultKind::AbortedRead,
                                [](HistoryBuilder& b, TxnId t1, TxnId t2, KeyId x) {
                                  b.set_status(t1, kAborted);
                                  b.write(t1, x, Value::of(1), {1, 1});
                                  b.read(t2, x, Value::of(1), {2, 1});
                                }},
                      FaultCase{"Intermediate", FaultKind::IntermediateRead,
                                [](HistoryBuilder& b, TxnId t1, TxnId t2, KeyId x) {
                                  b.write(t1, x, Value::of(1), {1, 1});
                                  b.write(t1, x, Value::of(2), {1, 1});
                                  b.read(t2, x, Value::of(1), {2, 1});
                                }},
                      FaultCase{"Future", FaultKind::FutureRead,
                                [](HistoryBuilder& b, TxnId t1, TxnId, KeyId x) {
                                  b.read(t1, x, Value::of(1), {1, 1});
                                  b.write(t1, x, Value::of(1), {1, 1});
                                }},
                      FaultCase{"OwnWrite", FaultKind::OwnWriteViolation,
                                [](HistoryBuilder& b, TxnId t1, TxnId t2, KeyId x) {
                                  b.write(t1, x, Value::of(1), {1, 1});
                                  b.write(t2, x, Value::of(2), {2, 1});
                                  b.read(t2, x, Value::of(1), {2, 1});
                                }},
                      FaultCase{"IncompatibleLists", FaultKind::IncompatibleOrder,
                                [](HistoryBuilder& b, TxnId t1, TxnId t2, KeyId x) {
                                  b.append(t1, x, Value::of(1), {1, 1});
                                  b.append(t2, x, Value::of(2), {2, 1});
                                  const TxnId t3 = b.begin(b.session("s3"), kCommitted, {3, 1});
                                  const Value forth[] = {Value::of(1), Value::of(2)};
                                  const Value back[] = {Value::of(2), Value::of(1)};
                                  b.read_list(t3, x, forth, {3, 1});
                                  const TxnId t4 = b.begin(b.session("s4"), kCommitted, {4, 1});
                                  b.read_list(t4, x, back, {4, 1});
                                }}),
    [](const auto& test) { return test.param.name; });

TEST(History, CountsAnUnknownTransactionOnlyIfSomebodyReadsFromIt) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  const TxnId seen = b.begin(b.session("s1"), kUnknown, {1, 1});
  b.write(seen, x, Value::of(1), {1, 1});
  const TxnId unseen = b.begin(b.session("s2"), kUnknown, {2, 1});
  b.read(unseen, x, Value::of(99), {2, 1});  // no fault: it is absent
  b.write(unseen, x, Value::of(2), {2, 1});
  const TxnId reader = b.begin(b.session("s3"), kCommitted, {3, 1});
  b.read(reader, x, Value::of(1), {3, 1});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(h->is_committed(seen));
  EXPECT_FALSE(h->is_present(unseen));
  EXPECT_TRUE(h->faults().empty());
  EXPECT_THAT(h->writers(x), ElementsAre(kInitialTxn, seen));
}

TEST(History, LeavesTheInitialValueToAFileThatWritesIt) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  const TxnId t1 = b.begin(b.session("s1"), kCommitted, {1, 1});
  b.write(t1, x, Value::of(0), {1, 1});
  const TxnId t2 = b.begin(b.session("s2"), kCommitted, {2, 1});
  b.read(t2, x, Value::of(0), {2, 1});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->writer(h->events(t2).front()), t1);
  EXPECT_THAT(h->writers(x), ElementsAre(t1));
}

TEST(History, ReadsAbsenceFromADeleteOrFromTheStart) {
  HistoryBuilder b(InitialValues::ZeroOrNil);
  const KeyId x = b.key("x");
  const KeyId y = b.key("y");
  const TxnId t1 = b.begin(b.session("s1"), kCommitted, {1, 1});
  b.write(t1, x, Value::nil(), {1, 1});
  const TxnId t2 = b.begin(b.session("s2"), kCommitted, {2, 1});
  b.read(t2, x, Value::nil(), {2, 1});
  b.read(t2, y, Value::nil(), {2, 2});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->writer(h->events(t2).front()), t1);
  EXPECT_EQ(h->writer(h->events(t2).back()), kInitialTxn);
}

TEST(History, RefusesAValueWithTwoWritersThatIsRead) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  b.write(b.begin(b.session("s1"), kCommitted, {1, 1}), x, Value::of(5), {1, 1});
  b.write(b.begin(b.session("s2"), kCommitted, {2, 1}), x, Value::of(5), {2, 1});
  b.read(b.begin(b.session("s3"), kCommitted, {3, 1}), x, Value::of(5), {3, 7});
  const auto h = std::move(b).build();
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(h.error().where, (Place{3, 7}));
  EXPECT_THAT(h.error().what, HasSubstr("T1 (line 1) and T2 (line 2) both write it"));
}

TEST(History, ResolvesWritersByName) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  const TxnId r = b.begin(b.session("s1"), kCommitted, {1, 1});
  b.read_from(r, x, "late", {1, 2});
  b.read_from(r, x, "T0", {1, 3});
  const TxnId w = b.begin(b.session("s2"), kCommitted, {2, 1});
  b.set_name(w, "late");
  b.write(w, x, Value::of(4), {2, 2});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->writer(h->events(r).front()), w);
  EXPECT_EQ(h->value(h->events(r).front()), Value::of(4));
  EXPECT_EQ(h->writer(h->events(r).back()), kInitialTxn);
  EXPECT_EQ(h->name(w), "late");
}

TEST(History, RefusesWritersThatDoNotExistOrNeverWrite) {
  for (const char* writer : {"ghost", "idle"}) {
    HistoryBuilder b(InitialValues::Zero);
    const TxnId idle = b.begin(b.session("s1"), kCommitted, {1, 1});
    b.set_name(idle, "idle");
    b.read_from(b.begin(b.session("s2"), kCommitted, {2, 1}), b.key("x"), writer, {2, 9});
    const auto h = std::move(b).build();
    ASSERT_FALSE(h.ok());
    EXPECT_EQ(h.error().where, (Place{2, 9}));
  }
}

TEST(History, RefusesTwoTransactionsOfOneName) {
  HistoryBuilder b(InitialValues::Zero);
  b.begin(b.session("s1"), kCommitted, {1, 1});
  b.set_name(b.begin(b.session("s1"), kCommitted, {2, 1}), "T1");
  const auto h = std::move(b).build();
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(h.error().where, (Place{2, 1}));
}

TEST(History, NoticesNumbersThatAreUsedTwiceAsNames) {
  HistoryBuilder b(InitialValues::Zero);
  b.set_name(b.begin(b.session("s1"), kCommitted, {1, 1}), "t7");
  b.set_name(b.begin(b.session("s1"), kCommitted, {2, 1}), "t7");
  const auto h = std::move(b).build();
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(h.error().where, (Place{2, 1}));
}

TEST(History, TakesAReadFromItselfForTheWriteBeforeIt) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  const TxnId t = b.begin(b.session("s1"), kCommitted, {1, 1});
  b.write(t, x, Value::of(1), {1, 2});
  b.read_from(t, x, "T1", {1, 3});
  b.write(t, x, Value::of(2), {1, 4});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(h->faults().empty());
  EXPECT_EQ(h->value(EventId{1}), Value::of(1));
}

TEST(History, TakesNilForTheEmptyList) {
  HistoryBuilder b(InitialValues::Nil);
  const KeyId x = b.key("x");
  b.append(b.begin(b.session("s1"), kCommitted, {1, 1}), x, Value::of(1), {1, 1});
  const TxnId reader = b.begin(b.session("s2"), kCommitted, {2, 1});
  b.read(reader, x, Value::nil(), {2, 1});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok()) << render(h.error());
  EXPECT_TRUE(h->faults().empty());
  EXPECT_EQ(h->writer(h->events(reader).front()), kInitialTxn);
  EXPECT_TRUE(h->list(h->events(reader).front()).empty());
}

TEST(History, RefusesToReadAListByItsWriter) {
  HistoryBuilder b(InitialValues::Nil);
  const KeyId x = b.key("x");
  b.append(b.begin(b.session("s1"), kCommitted, {1, 1}), x, Value::of(1), {1, 1});
  b.read_from(b.begin(b.session("s2"), kCommitted, {2, 1}), x, "T1", {2, 5});
  const auto h = std::move(b).build();
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(h.error().where, (Place{2, 5}));
}

// The middle of a list was seen as much as its end.
TEST(History, CountsAnUnknownTransactionWhoseAppendIsInsideAList) {
  HistoryBuilder b(InitialValues::Nil);
  const KeyId x = b.key("x");
  const TxnId unknown = b.begin(b.session("s1"), kUnknown, {1, 1});
  b.append(unknown, x, Value::of(1), {1, 1});
  const TxnId t2 = b.begin(b.session("s2"), kCommitted, {2, 1});
  b.append(t2, x, Value::of(2), {2, 1});
  const TxnId t3 = b.begin(b.session("s3"), kCommitted, {3, 1});
  b.read_list(t3, x, std::vector{Value::of(1), Value::of(2)}, {3, 1});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(h->is_committed(unknown));
  EXPECT_THAT(h->writers(x), ElementsAre(kInitialTxn, unknown, t2));
  EXPECT_THAT(h->version_edges(),
              ElementsAre(VersionEdge{kInitialTxn, unknown, x}, VersionEdge{unknown, t2, x}));
}

// What an aborted transaction saw beyond the version order contradicts nothing.
TEST(History, LetsAbortedReadersSeeLongerLists) {
  HistoryBuilder b(InitialValues::Nil);
  const KeyId x = b.key("x");
  const TxnId t1 = b.begin(b.session("s1"), kCommitted, {1, 1});
  b.append(t1, x, Value::of(1), {1, 1});
  b.read_list(b.begin(b.session("s2"), kCommitted, {2, 1}), x, {}, {2, 1});
  const TxnId t3 = b.begin(b.session("s3"), kAborted, {3, 1});
  b.read_list(t3, x, std::vector{Value::of(1)}, {3, 1});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(h->faults().empty());
  EXPECT_EQ(h->writer(h->events(t3).front()), t1);
  EXPECT_THAT(h->list(h->events(t3).front()), ElementsAre(Value::of(1)));
}

// T1 appends 1, T2 appends 2; T3 sees [1 2]; T4's append is never seen and comes last.
TEST(History, TakesTheVersionOrderFromLists) {
  HistoryBuilder b(InitialValues::Nil);
  const KeyId x = b.key("x");
  const TxnId t1 = b.begin(b.session("s1"), kCommitted, {1, 1});
  b.append(t1, x, Value::of(1), {1, 1});
  const TxnId t2 = b.begin(b.session("s2"), kCommitted, {2, 1});
  b.append(t2, x, Value::of(2), {2, 1});
  const TxnId t3 = b.begin(b.session("s3"), kCommitted, {3, 1});
  const Value shown[] = {Value::of(1), Value::of(2)};
  b.read_list(t3, x, shown, {3, 1});
  const TxnId t4 = b.begin(b.session("s4"), kCommitted, {4, 1});
  b.append(t4, x, Value::of(3), {4, 1});
  b.read_list(t4, x, std::vector{Value::of(1), Value::of(3)}, {4, 2});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->writer(h->events(t3).front()), t2);
  EXPECT_THAT(h->version_edges(), ElementsAre(VersionEdge{kInitialTxn, t1, x},
                                              VersionEdge{t1, t2, x}, VersionEdge{t2, t4, x}));
  EXPECT_THAT(h->list(h->events(t3).front()), ElementsAre(Value::of(1), Value::of(2)));
}

}  // namespace
}  // namespace isoscope
