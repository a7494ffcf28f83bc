// What a recording keeps in its file until it has come to its end.
#include "record/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "record/record.h"
#include "record/run_file.h"
#include "support/input.h"
#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace isoscope::record {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A recorded run without its times.
std::vector<json> lines_of(const TempFolder& folder) {
  std::vector<json> all;
  const std::string text = folder.text_of("run.jsonl");
  LineReader reader = LineReader::over(text);
  for (std::string_view line; reader.next(line);) {
    json& parsed = all.emplace_back(json::parse(line));
    parsed.erase("start");
    parsed.erase("end");
    if (!parsed.contains("stmts")) continue;
    for (json& statement : parsed["stmts"]) statement.erase("at");
  }
  return all;
}

// Transactions that are read from the file again are what they were in memory.
TEST(Journal, IsAsGoodAsMemory) {
  std::string why_not;
  auto server = PostgresServer::start(why_not);
  if (!server) GTEST_SKIP() << why_not;
  TempFolder folder;
  folder.add("app.sql",
             "SET TimeZone = 'Asia/Tokyo';\n"
             "INSERT INTO t VALUES (1, 'it''s \\ ü', '2026-11-17 01:00');\n"
             "BEGIN; UPDATE t SET v = 'x' WHERE id = 1; SAVEPOINT s;\n"
             "DELETE FROM t WHERE id = 1; ROLLBACK TO s; COMMIT;\n"
             "SELECT count(*) FROM t WHERE at > '2026-11-17 00:30';\n"
             "SELECT v FROM t WHERE id = 1;\n"
             // While it sleeps, the log is read: the run has several parts.
             "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t WHERE id = 1;\n"
             "SELECT pg_sleep(1); UPDATE t SET v = 'y' WHERE id = 1; COMMIT;\n"
             "UPDATE t SET v = 'y' WHERE id = 1;\n"
             "SELECT pg_sleep(1.5);\n"
             "SELECT v FROM t WHERE id = 1;\n"
             "UPDATE u SET v = 2 WHERE id = 1; SELECT v FROM u WHERE id = 1;\n"
             "SELECT pg_sleep(2.5);\n"
             "SELECT v FROM u WHERE id = 1; UPDATE u SET v = 2 WHERE id = 1;\n"
             "DELETE FROM u WHERE id = 1; SELECT v FROM u WHERE id = 1;\n"
             "DO $$ BEGIN END $$;\n"
             "INSERT INTO t VALUES (1, 'again', NULL);\n");
  auto dsn = read_connection_string(server->dsn());
  ASSERT_TRUE(dsn);
  std::vector<std::vector<json>> runs;
  for (const std::size_t most : {std::size_t{1} << 30U, std::size_t{0}}) {
    PGconn* connection = PQconnectdb(server->dsn().c_str());
    PQclear(PQexec(connection,
                   "DROP TABLE IF EXISTS t, u; CREATE TABLE u (id int PRIMARY KEY, v int);"
                   "INSERT INTO u VALUES (1, 1);"
                   "CREATE TABLE t (id int PRIMARY KEY, v text, at timestamptz)"));
    PQfinish(connection);
    RecordOptions options{.dsn = *dsn, .output = folder.path() + "/run.jsonl"};
    options.command = {"psql", "-qXAt", "-f", folder.path() + "/app.sql"};
    options.most_kept = most;
    auto recorded = record(options);
    ASSERT_TRUE(recorded) << recorded.error().what;
    EXPECT_GT(recorded->understood, 4U);
    runs.push_back(lines_of(folder));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_THAT(json(runs[0]).dump(), HasSubstr("in Asia/Tokyo"));
  EXPECT_THAT(json(runs[0]).dump(), testing::Not(HasSubstr("raw")));
  auto finished = JournalFile::open(folder.path() + "/run.jsonl");
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().what, HasSubstr("is no recording that was left unfinished"));
}

// What stands behind the last line of the log is not in the log.
TEST(Journal, KnowsHowFarTheLogGoes) {
  TempFolder folder;
  RecordedTxn txn{.status = TxnStatus::Committed,
                  .isolation = Isolation::declared("read committed")};
  txn.statements.push_back({.kind = StatementKind::Select,
                            .sql = "SELECT $1",
                            .parameters = {{.is_null = false, .is_binary = true, .bytes = "\xff"}},
                            .parameter_types = {23},
                            .tag = "SELECT 1",
                            .gate = 7});
  txn.statements[0].settings = std::make_shared<ClientSettings>(ClientSettings{"GMT", "ISO", "x"});
  txn.gaps = {{1, "a reason"}, {1, "unfinished"}};
  std::string lines;
  JournalLog log([&](std::string_view text) { lines += text; });
  log.add("0/16", "BEGIN 12");
  log.add("0/16", "table public.t: INSERT: id[integer]:1 v[text]:'\"'");
  log.add("0/17", "COMMIT 12");
  log.finish();
  const std::string line = with_raw(run_line(txn, "s1", "T1", {}), txn, 1);
  folder.add("run.jsonl", run_header() + journal_start({.xmin = 10, .xmax = 12, .running = {11}}) +
                              journal_table("public.t", {{"id", "v"}, "5\tx\n", false}) + line +
                              lines + line);
  auto read = JournalFile::open(folder.path() + "/run.jsonl");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->start().text(), "10:12:11");
  EXPECT_EQ(read->take_copies().at("public.t").lines, "5\tx\n");
  ASSERT_TRUE(read->rewind());
  const auto part = read->next_part();
  ASSERT_TRUE(part && *part != nullptr);
  ASSERT_EQ((*part)->txns.size(), 1U);
  EXPECT_EQ((*part)->txns[0].changes.at(0).values.at(1).second, "\"");
  for (int time = 0; time < 2; ++time) {
    const auto first = read->next_txn();
    ASSERT_TRUE(first && *first);
    EXPECT_EQ(*(*first)->session, "s1");
    const RecordedTxn& same = *(*first)->txn;
    EXPECT_EQ(same.gaps.size(), 1U);
    EXPECT_EQ(same.statements[0].gate, 7U);
    EXPECT_EQ(same.statements[0].tag, "SELECT 1");
    EXPECT_EQ(same.statements[0].parameters[0].bytes, "\xff");
    EXPECT_EQ(same.statements[0].settings->date_style, "ISO");
    const auto end = read->next_txn();
    ASSERT_TRUE(end && !*end);
    if (time == 0) {
      ASSERT_TRUE(read->rewind_part());
    }
  }
  const auto last = read->next_part();
  ASSERT_TRUE(last);
  EXPECT_EQ(*last, nullptr);
  const auto unread = read->next_txn();
  EXPECT_TRUE(unread && *unread);
}

// Every byte at every place of a word of eight bytes, and beyond it.
TEST(Journal, TextsAreJsonWhateverTheyContain) {
  const auto told = [](const std::string& text) {
    std::string out = "before";
    append_json_text(out, text);
    return json::parse(out.substr(6)).get<std::string>();
  };
  for (std::size_t place = 0; place < 17; ++place) {
    for (int byte = 0; byte < 0x80; ++byte) {
      std::string text(17, 'x');
      text[place] = static_cast<char>(byte);
      EXPECT_EQ(told(text), text) << byte << " at " << place;
    }
    std::string foreign = "\t0123456789abcdef";
    EXPECT_EQ(told(foreign.insert(place, "\xC3\xBC")), foreign);
    std::string broken = "\"0123456789abcdef";
    broken[place] = '\xFF';
    EXPECT_THAT(told(broken), HasSubstr("\xEF\xBF\xBD"));
  }
  EXPECT_EQ(told(""), "");
}

TEST(Journal, ReadsTablesOfManyLines) {
  TempFolder folder;
  std::string rows;
  for (int i = 0; i < 200'000; ++i) rows += std::to_string(i) + "\tx\n";
  const std::string lines = journal_table("public.t", {{"id", "v"}, rows, false, "7", "d"});
  ASSERT_GT(std::ranges::count(lines, '\n'), 2);
  folder.add("run.jsonl", run_header() + journal_start({.xmin = 10, .xmax = 12}) + lines +
                              journal_table("public.empty", {{"id"}, "", true}));
  auto read = JournalFile::open(folder.path() + "/run.jsonl");
  ASSERT_TRUE(read);
  const auto copies = read->take_copies();
  EXPECT_EQ(copies.at("public.t").lines, rows);
  EXPECT_EQ(copies.at("public.t").definition, "d");
  EXPECT_EQ(copies.at("public.empty").lines, "");
  EXPECT_TRUE(copies.at("public.empty").is_cut);
}

// A long part of the log is several lines; without the last of them it is none.
TEST(Journal, ReadsPartsOfManyLines) {
  TempFolder folder;
  std::string lines;
  JournalLog log([&](std::string_view text) { lines += text; });
  for (int i = 0; i < 20'000; ++i) {
    log.add("0/16", "BEGIN 12");
    log.add("0/16", "table public.t: INSERT: id[integer]:1 v[text]:'" + std::string(50, 'x') + "'");
    log.add("0/17", "COMMIT 12");
  }
  log.finish();
  ASSERT_GT(std::ranges::count(lines, '\n'), 2);
  const std::string head = run_header() + journal_start({.xmin = 10, .xmax = 12});
  folder.add("run.jsonl", head + lines);
  folder.add("cut.jsonl", head + lines.substr(0, lines.rfind('\n', lines.size() - 2) + 1));
  auto read = JournalFile::open(folder.path() + "/run.jsonl");
  ASSERT_TRUE(read && read->rewind());
  const auto part = read->next_part();
  ASSERT_TRUE(part && *part != nullptr);
  EXPECT_EQ((*part)->txns.size(), 20'000U);
  auto cut = JournalFile::open(folder.path() + "/cut.jsonl");
  ASSERT_TRUE(cut && cut->rewind());
  const auto none = cut->next_part();
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
}

}  // namespace
}  // namespace isoscope::record
