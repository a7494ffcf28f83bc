// The log that is put together from what statements told, without a server.
#include "record/told_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/shape.h"

namespace isoscope::record {
namespace {

using testing::IsEmpty;

// The table t (id, v) with a unique key besides the primary one.
Catalog one_table() {
  Catalog catalog;
  catalog.tables["public.t"] = {.schema = "public",
                                .name = "t",
                                .columns = {"id", "v"},
                                .key = {0},
                                .key_names = {"id"},
                                .unique_keys = {{1}}};
  return catalog;
}

RecordedStatement statement(const std::string& sql, Microseconds start, Microseconds end) {
  const StatementKind kind = split_statements(sql).at(0).kind;
  RecordedStatement made{.kind = kind, .sql = sql, .sent = start, .start = start, .end = end};
  made.bound = start;
  if (kind != StatementKind::Select && kind != StatementKind::Update) return made;
  Shape shape = shape_of(sql, kind);
  shape.appending = find_appending(sql, kind);
  made.shape = std::make_shared<const Shape>(std::move(shape));
  return made;
}

RecordedTxn transaction(std::vector<RecordedStatement> statements, Microseconds end_sent,
                        Microseconds end) {
  return {.status = TxnStatus::Committed,
          .isolation = Isolation::declared("repeatable read"),
          .start = statements.front().start,
          .end = end,
          .end_sent = end_sent,
          .statements = std::move(statements)};
}

// An UPDATE of a row of its own, by the transaction with this id.
RecordedTxn writer(int xid, Microseconds end_sent, Microseconds end) {
  RecordedStatement update = statement("UPDATE t SET v = 5 WHERE id = 1", 1, 2);
  update.tag = "UPDATE 1";
  // The last part is the row (xid,5) in hexadecimal.
  update.told = {"5:5:|" + std::to_string(xid) +
                 "|repeatable read|ISO, MDY;postgres;UTC;1;hex;C|0/10|17|283" +
                 std::to_string(xid) + "2c3529"};
  return transaction({update}, end_sent, end);
}

// Two commits overlap, and a later transaction has a snapshot of the time between them: the order
// is known if that is known to be another's.
TEST(ToldLog, TakesSnapshotsOfOthersInAnySpelling) {
  for (const char* import : {"SET TRANSACTION SNAPSHOT '1-2-3'", "set transaction snapshot '1-2-3'",
                             "Set Transaction Snapshot '1-2-3'"}) {
    RecordedStatement read = statement("SELECT v FROM t WHERE id = 5", 22, 23);
    read.tag = "SELECT 1";
    read.told = {"6:7:6||repeatable read"};
    std::vector<std::pair<std::string, RecordedTxn>> txns = {
        {"a", writer(5, 3, 9)},
        {"b", writer(6, 4, 10)},
        {"c", transaction({statement(import, 20, 21), read}, 24, 25)}};
    const Catalog catalog = one_table();
    const TableStates before = {{"17", {.name = "public.t", .file = "17", .money = "C"}}};
    const TableStates after = {
        {"17", {.name = "public.t", .writes = 2, .file = "17", .money = "C"}}};
    const DecodedLog log = told_log(
        txns, {.catalog = catalog, .before = before, .after = after, .status_of = [](auto) {
                 return TxnStatus::Unknown;
               }});
    EXPECT_EQ(log.txns.size(), 2U) << import;
    EXPECT_THAT(log.troubles, IsEmpty()) << import;
  }
}

}  // namespace
}  // namespace isoscope::record
