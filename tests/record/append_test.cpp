// Statements that are asked for a column more: where it is put, how it is taken away, and what is
// known of a run by it on a server whose log cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <set>

#include "record/appended_run.h"
#include "record/appending.h"
#include "record/commit_order.h"
#include "record/gatekeeper.h"
#include "record/resolve.h"
#include "record/running_proxy.h"
#include "record/wire.h"
#include "support/postgres_server.h"

namespace isoscope::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string appended(std::string_view sql, StatementKind kind) {
  const Appending found = find_appending(sql, kind);
  std::string text(sql);
  if (found.splices.size() == 1) text.insert(found.splices[0].at, "<>");
  return text;
}

TEST(Appending, AddsAColumnBeforeFrom) {
  const auto select = [](std::string_view sql) { return appended(sql, StatementKind::Select); };
  EXPECT_EQ(select("SELECT v FROM t"), "SELECT v<> FROM t");
  EXPECT_EQ(select("SELECT v IS DISTINCT FROM 1 FROM t"), "SELECT v IS DISTINCT FROM 1<> FROM t");
  EXPECT_EQ(select("SELECT extract(year FROM d) AS \"from\" FROM t"),
            "SELECT extract(year FROM d) AS \"from\"<> FROM t");
  EXPECT_EQ(select("SELECT (SELECT 1 FROM u) /* from */ FROM t"),
            "SELECT (SELECT 1 FROM u)<> /* from */ FROM t");
  EXPECT_EQ(select("WITH c AS (SELECT 1 FROM u) SELECT * FROM c"),
            "WITH c AS (SELECT 1 FROM u) SELECT *<> FROM c");
  EXPECT_EQ(select("SELECT count(*) FROM t GROUP BY v"), "SELECT count(*)<> FROM t GROUP BY v");
  EXPECT_EQ(select("SELECT v FROM t FOR UPDATE"), "SELECT v<> FROM t FOR UPDATE");
  // Where the column would be compared, kept, or is nowhere.
  for (const char* sql :
       {"SELECT DISTINCT v FROM t", "SELECT v FROM t UNION SELECT 1", "SELECT v INTO u FROM t",
        "VALUES (1)", "TABLE t", "SELECT 1", "SELECT FROM t"})
    EXPECT_EQ(select(sql), sql);
}

TEST(Appending, AddsReturningAtTheEnd) {
  EXPECT_EQ(appended("UPDATE t SET v = 1 -- end", StatementKind::Update),
            "UPDATE t SET v = 1<> -- end");
  const Appending alone = find_appending("DELETE FROM s.t AS \"A b\"", StatementKind::Delete);
  EXPECT_TRUE(alone.returns);
  EXPECT_TRUE(alone.is_alone);
  EXPECT_EQ(alone.schema, "s");
  EXPECT_EQ(alone.table, "t");
  ASSERT_EQ(alone.splices.size(), 1U);
  EXPECT_THAT(alone.splices[0].inserted, HasSubstr("\"A b\".*"));
  const Appending upsert = find_appending(
      "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET v = 1, w = 2 RETURNING v",
      StatementKind::Insert);
  EXPECT_FALSE(upsert.is_alone);
  EXPECT_TRUE(upsert.may_update);
  EXPECT_THAT(upsert.set_columns, ElementsAre("v", "w"));
  EXPECT_EQ(appended("COPY t FROM STDIN", StatementKind::Insert), "COPY t FROM STDIN");
}

TEST(Appending, ReadsWhatWasTold) {
  const auto query = parse_told("730:736:731|735|read committed");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->snapshot.text(), "730:736:731");
  EXPECT_EQ(query->xid, 735U);
  EXPECT_FALSE(query->row);
  const auto row = parse_told("730:730:||serializable|ISO, MDY;postgres;UTC;1;hex;C|A/10|17|2831");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->xid, 0U);
  EXPECT_EQ(row->lsn, 0xA00000010U);
  EXPECT_EQ(row->table, "17");
  EXPECT_EQ(row->row, "(1");
  for (const char* wrong : {"", "1:2:|x|y", "1:2:|3", "1:1:||a|b|c|d|e", "1:1:||a|b|1/1|1|2x"})
    EXPECT_FALSE(parse_told(wrong)) << wrong;
  EXPECT_THAT(*record_fields(R"((1,,"","a ""b"",\\",t))"),
              ElementsAre(Cell("1"), Cell(), Cell(""), Cell("a \"b\",\\"), Cell("t")));
  EXPECT_FALSE(record_fields("1,2"));
}

std::string description(const std::vector<std::string>& names) {
  std::string payload;
  append_int16(payload, static_cast<std::uint16_t>(names.size()));
  for (const std::string& name : names) payload += name + '\0' + std::string(18, '\1');
  return payload;
}
std::string data_row(const std::vector<Cell>& cells) {
  std::string payload;
  append_int16(payload, static_cast<std::uint16_t>(cells.size()));
  for (const Cell& cell : cells) {
    append_int32(payload, cell ? static_cast<std::uint32_t>(cell->size()) : 0xFFFFFFFFU);
    payload += cell.value_or("");
  }
  return payload;
}

TEST(Appending, TakesTheColumnAwayAgain) {
  const auto described = strip_description(description({"a", std::string(kToldName)}));
  ASSERT_TRUE(described);
  EXPECT_EQ(described->payload, description({"a"}));
  EXPECT_FALSE(strip_description(description({std::string(kToldName), "a"})));
  EXPECT_FALSE(strip_description(description({})));
  EXPECT_TRUE(strip_description(description({std::string(kToldName)}))->is_empty);
  const auto row = strip_row(data_row({Cell("x"), Cell(), Cell("mark:told")}), "mark:");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->payload, data_row({Cell("x"), Cell()}));
  EXPECT_EQ(row->told, "told");
  EXPECT_FALSE(strip_row(data_row({Cell("mark:told"), Cell("x")}), "mark:"));
  EXPECT_FALSE(strip_row(data_row({Cell()}), "mark:"));
  // Whatever bytes come, they are taken for no row.
  const std::string whole = data_row({Cell("x"), Cell("mark:told")});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(strip_row(std::string_view(whole).substr(0, size), "mark:"));
}

Commit commit(std::uint64_t xid, Microseconds sent, Microseconds end,
              const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& rows = {}) {
  return {xid, sent, end, rows};
}

TEST(CommitOrder, FollowsTimesRowsAndSnapshots) {
  EXPECT_THAT(commit_order({commit(5, 10, 11), commit(6, 1, 2)}, {}).order, ElementsAre(1, 0));
  // They overlap: the places of the log say who wrote the row first, although it was told later.
  const auto rows =
      commit_order({commit(5, 1, 9, {{"r", {7, 7}}}), commit(6, 2, 10, {{"r", {3, 4}}})}, {});
  EXPECT_THAT(rows.order, ElementsAre(1, 0));
  EXPECT_THAT(rows.unordered, IsEmpty());
  const auto seen =
      commit_order({commit(5, 1, 9), commit(6, 2, 10)}, {{*Snapshot::parse("5:7:5"), 3, 4}});
  EXPECT_THAT(seen.order, ElementsAre(1, 0));
  EXPECT_THAT(seen.unordered, IsEmpty());
  const auto unknown =
      commit_order({commit(5, 1, 9), commit(6, 2, 10)}, {{*Snapshot::parse("5:5:"), 3, 4}});
  EXPECT_THAT(unknown.unordered, ElementsAre(Pair(0, 1)));
  EXPECT_FALSE(unknown.is_contradictory);
  // One snapshot shows the first only, another the second only.
  EXPECT_TRUE(commit_order({commit(5, 1, 9), commit(6, 2, 10)},
                           {{*Snapshot::parse("5:7:5"), 3, 4}, {*Snapshot::parse("6:7:6"), 3, 4}})
                  .is_contradictory);
}

// Runs statements on connections, one after the other, through a proxy that appends.
class AppendedRun : public testing::Test {
 protected:
  void start(const char* tables) {
    std::string why_not;
    server_ = PostgresServer::start(why_not, {.settings = {"wal_level=replica"}});
    if (!server_) GTEST_SKIP() << why_not;
    past(tables);
    past("VACUUM FREEZE");  // rows keep no trace of who wrote them
    past("CREATE ROLE plain LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain");
    auto begun = start_appending(server_->dsn() + " user=plain");
    ASSERT_TRUE(begun) << begun.error().what;
    begun_.emplace(std::move(*begun));
    gates_ = std::make_unique<Gatekeeper>(begun_->appender.get());
    proxy_ = std::make_unique<RunningProxy>(server_->port(), gates_.get());
  }
  static void run(const std::string& dsn, const char* sql) {
    PGconn* connection = PQconnectdb(dsn.c_str());
    PQclear(PQexec(connection, sql));
    PQfinish(connection);
  }
  void past(const char* sql) const { run(server_->dsn(), sql); }
  // Each text is a request; all of them on one connection.
  void session(const std::vector<const char*>& requests) const {
    PGconn* connection = PQconnectdb(PostgresServer::dsn(proxy_->port()).c_str());
    for (const char* sql : requests) PQclear(PQexec(connection, sql));
    PQfinish(connection);
  }
  void finish() {
    proxy_->stop();
    std::vector<std::pair<std::string, RecordedTxn>> txns;
    for (auto& [client, txn] : proxy_->txns())
      txns.emplace_back("s" + std::to_string(client.connection), txn);
    auto finished = finish_appending(*begun_->appender, begun_->rows, txns);
    ASSERT_TRUE(finished) << finished.error().what;
    auto resolved = resolve(txns, begun_->rows, *gates_);
    ASSERT_TRUE(resolved) << resolved.error().what;
    run_ = std::move(*resolved);
  }
  // The gap of a statement; empty if it has none.
  std::string gap(std::size_t txn, std::size_t statement) const {
    for (const Gap& gap : run_.txns.at(txn - 1).txn.gaps) {
      if (gap.statement == statement) return gap.why;
    }
    return {};
  }
  // "r t[1].v T0", "w t[1].v 5": what a statement did.
  std::vector<std::string> events(std::size_t txn, std::size_t statement) const {
    std::vector<std::string> texts;
    for (const RunEvent& event : run_.txns.at(txn - 1).events.at(statement - 1)) {
      if (event.kind == RunEvent::Kind::Read) texts.push_back("r " + event.key + " " + event.from);
      if (event.kind == RunEvent::Kind::Write || event.kind == RunEvent::Kind::Insert)
        texts.push_back("w " + event.key + " " + event.value);
      if (event.kind == RunEvent::Kind::Delete) texts.push_back("d " + event.key);
    }
    return texts;
  }

  std::unique_ptr<PostgresServer> server_;
  std::optional<AppendedStart> begun_;
  std::unique_ptr<Gatekeeper> gates_;
  std::unique_ptr<RunningProxy> proxy_;
  ResolvedRun run_;
};

constexpr const char* kOneTable =
    "CREATE TABLE t (id int PRIMARY KEY, v int, s text, b bool);"
    "INSERT INTO t VALUES (1, 0, 'a, \"b\"', true), (2, 0, NULL, false)";

TEST_F(AppendedRun, KnowsReadsAndWritesOfOneTable) {
  start(kOneTable);
  if (!server_) return;
  session({"SELECT v FROM t WHERE id = 1", "UPDATE t SET v = 5 WHERE id = 1",
           "SELECT v, s, b FROM t WHERE id = 1", "SELECT v FROM t WHERE id = 7",
           "BEGIN; INSERT INTO t VALUES (7, 1, '', NULL); SAVEPOINT a; UPDATE t SET v = 6 WHERE id "
           "= 2; ROLLBACK TO a; UPDATE t SET v = 8 WHERE id = 7; COMMIT",
           "SELECT v FROM t WHERE id = 7", "SELECT v FROM t WHERE id = 2",
           "BEGIN; DELETE FROM t WHERE id = 1; ROLLBACK", "SELECT DISTINCT v FROM t WHERE v > 4",
           "INSERT INTO t VALUES (1, 9) ON CONFLICT (id) DO UPDATE SET v = t.v + 1",
           "DELETE FROM t WHERE id = 7", "SELECT count(*) FROM t WHERE v = 6"});
  finish();
  for (const ResolvedTxn& txn : run_.txns) {
    for (const Gap& gap : txn.txn.gaps) ADD_FAILURE() << txn.id << " " << gap.why;
  }
  EXPECT_THAT(events(1, 1), ElementsAre("r t[1] T0", "r t[1].v T0"));
  EXPECT_THAT(events(2, 1), Contains("w t[1].v 5"));
  EXPECT_THAT(events(3, 1), Contains("r t[1].v T2"));
  EXPECT_THAT(events(3, 1), Contains("r t[1].s T0"));
  EXPECT_THAT(events(4, 1), ElementsAre("r t[7] T0"));
  EXPECT_THAT(events(5, 5), Contains("w t[7].v 8"));
  EXPECT_THAT(events(6, 1), Contains("r t[7].v T5"));
  EXPECT_THAT(events(7, 1), IsEmpty());  // the row was never written
  EXPECT_THAT(events(9, 1), Contains("r t[7]{where v > 4 select v} T5"));
  EXPECT_THAT(events(10, 1), Contains("w t[1].v 6"));
  EXPECT_THAT(events(11, 1), Contains("d t[7]"));
}

TEST_F(AppendedRun, DoubtsTablesThatOthersWrite) {
  start(
      "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0);"
      "CREATE TABLE audited (id int PRIMARY KEY, v int); INSERT INTO audited VALUES (1, 0);"
      "CREATE TABLE notes (id serial PRIMARY KEY, v int);"
      "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN INSERT INTO notes (v) VALUES (new.v); RETURN NULL; END $$;"
      "CREATE TRIGGER n AFTER UPDATE ON audited FOR EACH ROW EXECUTE FUNCTION note();"
      "CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1);"
      "CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent ON DELETE CASCADE);"
      "INSERT INTO child VALUES (1, 1);"
      "CREATE TABLE past (id int PRIMARY KEY, v int); INSERT INTO past VALUES (1, 0);"
      "CREATE TABLE moved (id int PRIMARY KEY, v int); INSERT INTO moved VALUES (1, 0);"
      "CREATE TABLE emptied (id int PRIMARY KEY, v int); INSERT INTO emptied VALUES (1, 0)");
  if (!server_) return;
  session({"UPDATE audited SET v = 1 WHERE id = 1", "SELECT count(*) FROM notes",
           "DELETE FROM parent WHERE id = 1", "SELECT count(*) FROM child",
           "UPDATE past SET v = 1 WHERE id = 1"});
  past("UPDATE past SET v = 7 WHERE id = 1; UPDATE past SET v = 1 WHERE id = 1");
  session({"SELECT v FROM past WHERE id = 1", "UPDATE moved SET id = 2 WHERE id = 1",
           "SELECT v FROM moved WHERE id = 2", "SELECT v FROM emptied WHERE id = 1"});
  past("TRUNCATE emptied");
  session({"UPDATE t SET v = 1 WHERE id = 1", "SELECT v FROM t WHERE id = 1"});
  finish();
  EXPECT_THAT(gap(1, 1), HasSubstr("triggers"));
  for (const std::size_t txn : {2, 4, 5, 6})
    EXPECT_THAT(gap(txn, 1), HasSubstr("the server counted other writes")) << txn;
  EXPECT_THAT(gap(3, 1), HasSubstr("a foreign key to or from"));
  for (const std::size_t txn : {7, 8})
    EXPECT_THAT(gap(txn, 1), HasSubstr("writes that the statements did not report")) << txn;
  EXPECT_THAT(gap(9, 1), HasSubstr("written anew"));
  // What nobody else wrote is known.
  EXPECT_EQ(gap(10, 1), "");
  EXPECT_THAT(events(11, 1), Contains("r t[1].v T10"));
}

TEST_F(AppendedRun, DoubtsWhatIsNotTold) {
  start(
      "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0);"
      "CREATE TABLE u (id int PRIMARY KEY, v int); INSERT INTO u VALUES (1, 0);"
      "CREATE TABLE times (id int PRIMARY KEY, at timestamptz)");
  if (!server_) return;
  session({"PREPARE p AS UPDATE t SET v = v + 1", "EXECUTE p", "SELECT v FROM t WHERE id = 1",
           "WITH w AS (UPDATE u SET v = 3 RETURNING v) SELECT v FROM w", "SELECT v FROM u",
           "SET TimeZone = 'Asia/Tokyo'", "INSERT INTO times VALUES (1, now())",
           "SELECT id FROM times"});
  finish();
  std::set<std::string> whys;
  for (const ResolvedTxn& txn : run_.txns) {
    for (const Gap& gap : txn.txn.gaps) whys.insert(gap.why);
    for (const auto& list : txn.events) EXPECT_THAT(list, IsEmpty()) << txn.id;
  }
  EXPECT_THAT(whys, Contains(HasSubstr("the server counted other writes")));
  EXPECT_THAT(whys, Contains(HasSubstr("settings print otherwise")));
}

}  // namespace
}  // namespace isoscope::record
