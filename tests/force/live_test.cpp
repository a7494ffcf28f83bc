// What force and probe say, against other programs and servers: PostgreSQL's own isolationtester,
// and the tables that docs/probe.md prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "force/forcing.h"
#include "force/probe.h"
#include "report/probe_report.h"
#include "support/input.h"
#include "support/mariadb_server.h"
#include "support/paths.h"
#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace isoscope::force {
namespace {

namespace fs = std::filesystem;

std::string text_at(const std::string& path) {
  auto text = read_whole(path);
  EXPECT_TRUE(text.ok()) << path;
  return text ? *text : std::string();
}

// The output of a shell command.
std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe))
    out.append(buffer, size);
  ::pclose(pipe);
  return out;
}

std::string isolationtester() {
  std::string pgxs = output_of("pg_config --pgxs");
  while (pgxs.ends_with('\n')) pgxs.pop_back();
  return (fs::path(pgxs).parent_path().parent_path() / "test/isolation/isolationtester").string();
}

// Specifications with what a run can have: waits, errors, deadlocks, NULL, texts, several queries.
const std::vector<std::string>& specs() {
  static const std::vector<std::string> kSpecs = {
      text_at(source_dir() + "/examples/force/lost-update.spec"),
      R"(setup { CREATE TABLE t (id int PRIMARY KEY, v int, who text); INSERT INTO t VALUES (1, 10, NULL), (22, NULL, 'Eve'); }
teardown { DROP TABLE t; }
session s1
setup { BEGIN ISOLATION LEVEL REPEATABLE READ; }
step r1 { SELECT * FROM t ORDER BY id; }
step w1 { UPDATE t SET v = v + 1 WHERE id = 1; }
step c1 { COMMIT; }
session s2
setup { BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 AS one; }
step r2 { SELECT who, v FROM t WHERE id > 100; SELECT count(*) FROM t; }
step w2 { UPDATE t SET v = v + 2 WHERE id = 1; }
step c2 { COMMIT; }
permutation r1 r2 w1 w2 c1 c2
permutation r1 w1 c1 r2 w2 c2
permutation r1 w1 r2 w2 c1 c2
)",
      R"(setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2); }
teardown { DROP TABLE t; }
session a
step a1 { SELECT pg_advisory_lock(3); }
step a2 { SELECT 1/0; }
step a3 { SELECT pg_advisory_unlock(3); }
session b
step b1 { SELECT pg_advisory_lock(3); }
step b2 { SELECT pg_advisory_unlock(3); }
permutation a1 b1 a2 a3 b2
permutation b1 a1 b2 a2 a3
)",
      R"(setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1); }
teardown { DROP TABLE t; }
session a
setup { BEGIN; }
step wa { UPDATE t SET v = v + 1; }
step ca { COMMIT; }
session b
setup { BEGIN; }
step wb { UPDATE t SET v = v * 2; }
step cb { ROLLBACK; }
session c
step rc { SELECT v FROM t; }
permutation wa wb ca rc cb
permutation wb wa cb rc ca
permutation wa rc wb ca cb
)"};
  return kSpecs;
}

TEST(ForceLive, PrintsWhatIsolationtesterPrints) {
  std::string why_not;
  auto server = PostgresServer::start(why_not);
  ASSERT_NE(server, nullptr) << why_not;
  const TempFolder folder;
  ASSERT_TRUE(fs::exists(isolationtester())) << isolationtester();
  for (const std::string& text : specs()) {
    auto spec = read_spec(text);
    ASSERT_TRUE(spec.ok()) << text;
    auto answer = force_spec(*spec, {.dsn = server->dsn()});
    ASSERT_TRUE(answer.ok()) << answer.error().what;
    Spec written = *spec;
    written.permutations.clear();
    std::string ours =
        "Parsed test spec with " + std::to_string(spec->sessions.size()) + " sessions\n";
    for (const Forced& forced : answer->forced) {
      written.permutations.push_back(forced.permutation);
      ours += isolationtester_output(*spec, forced.permutation, forced.run);
    }
    const std::string path = folder.add("test.spec", write_spec(written));
    const std::string theirs =
        output_of(isolationtester() + " '" + server->dsn() + "' < " + path + " 2>&1");
    EXPECT_EQ(ours, theirs) << text;
  }
}

// The table of docs/probe.md that begins with this line, up to the closing fence.
std::string documented_table(const std::string& heading) {
  const std::string page = text_at(source_dir() + "/docs/probe.md");
  const std::size_t begin = page.find("\n" + heading);
  EXPECT_NE(begin, std::string::npos) << heading;
  if (begin == std::string::npos) return {};
  return page.substr(begin + 1, page.find("\n```", begin) - begin);
}

// Whether two that wait for each other meet, and whom the server then chooses, is a matter of
// moments: a deadlock may be seen in a cell in which others blocked, or not.
std::string without_deadlocks(const std::string& table) {
  const std::string plain = std::regex_replace(table, std::regex(", (1213|40P01)"), "");
  return std::regex_replace(plain, std::regex(" +"), " ");
}

void expect_documented(const std::string& dsn) {
  auto server = open_server(dsn);
  ASSERT_TRUE(server.ok()) << server.error().what;
  auto answer = probe(**server, {});
  ASSERT_TRUE(answer.ok()) << answer.error().what;
  EXPECT_EQ(without_deadlocks(probe_text(*answer, Paint(false))),
            without_deadlocks(documented_table(answer->product + ":")));
}

TEST(ProbeLive, GivesTheTableOfPostgresql) {
  std::string why_not;
  auto server = PostgresServer::start(why_not);
  ASSERT_NE(server, nullptr) << why_not;
  expect_documented(server->dsn());
}

TEST(ProbeLive, GivesTheTableOfMariadb) {
  std::string why_not;
  auto server = MariaDbServer::start(why_not);
  ASSERT_NE(server, nullptr) << why_not;
  expect_documented(server->dsn());
}

}  // namespace
}  // namespace isoscope::force
