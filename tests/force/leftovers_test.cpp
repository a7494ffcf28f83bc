// Nothing that force starts survives it: processes, connections, locks, slots, schemas, tables;
// however it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/run_isoscope.h"
#include "force/server_fixture.h"
#include "force/sessions.h"
#include "support/paths.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A program of ours that works on the server when it is ended: by a word for messages.
struct Work {
  std::string name;
  std::string words;
};

class LeftoversTest : public WithServer {
 protected:
  void SetUp() override {
    WithServer::SetUp();
    if (server_ == nullptr) return;
    mark_ = "ISOSCOPE_LEFTOVERS=" + std::to_string(::getpid()) + "-" + std::to_string(++runs_);
  }

  static std::string dsn() { return " --dsn '" + server_->dsn() + "'"; }
  static std::string example(const std::string& name) { return source_dir() + "/examples/" + name; }

  std::vector<Work> works() {
    // Waits for ever: nobody lets it go.
    waiting_ =
        folder_.add("waiting.spec",
                    "setup { CREATE TABLE waiting (id int); }\nteardown { DROP TABLE waiting; }\n"
                    "session s1\nsetup { BEGIN; }\nstep l1 { SELECT pg_sleep(60); }\n"
                    "step c1 { COMMIT; }\n");
    return {
        {"a specification", "force " + waiting_ + dsn()},
        {"an application", "force " + example("sql/courseware.sql") + dsn() +
                               " --times 1000000 --level serializable"},
        {"commands", "force" + dsn() +
                         " --setup \"psql -qX -c 'DROP TABLE IF EXISTS acc' -c 'CREATE TABLE acc "
                         "(id int)'\" --teardown \"psql -qX -c 'DROP TABLE acc'\""
                         " --run \"a=psql -qX -c 'SELECT 1 FROM acc' -c 'SELECT pg_sleep(60)'\""
                         " --run \"b=psql -qX -c 'SELECT 2 FROM acc' -c 'SELECT pg_sleep(60)'\""},
        {"probes", "probe" + dsn()},
        {"random clients", "stress --txns 100000000 --isolation SERIALIZABLE --level ser" + dsn()},
        {"random calls", "stress --workload " + example("sql/bank.sql") +
                             " --txns 100000000 --isolation SERIALIZABLE --level ser" + dsn()}};
  }

  // Runs in a session of its own, with our mark in its environment.
  pid_t start(const std::string& words) {
    const std::string command = "exec " + isoscope_binary() + " " + words + " >/dev/null 2>&1";
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setsid();
      ::putenv(mark_.data());
      ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    return pid;
  }

  // The processes that bear our mark.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0) continue;
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string environment((std::istreambuf_iterator<char>(file)), {});
      if (environment.find(mark_) != std::string::npos) found.push_back(pid);
    }
    return found;
  }

  // How many of whatever is not there when nobody works.
  static std::string on_server() {
    auto monitor = force::PgMonitor::open(server_->dsn());
    if (!monitor) return monitor.error().what;
    auto rows = (*monitor)->query(
        "SELECT string_agg(x, ' ') FROM ("
        "SELECT 'connection:' || application_name FROM pg_stat_activity WHERE backend_type IN "
        "  ('client backend', 'walsender') AND pid <> pg_backend_pid() "
        "UNION ALL SELECT 'slot:' || slot_name FROM pg_replication_slots "
        "UNION ALL SELECT 'lock:' || locktype FROM pg_locks WHERE pid <> pg_backend_pid() "
        "UNION ALL SELECT 'prepared:' || gid FROM pg_prepared_xacts "
        "UNION ALL SELECT 'schema:' || nspname FROM pg_namespace WHERE nspname LIKE 'isoscope%' "
        "UNION ALL SELECT 'temporary:' || relname FROM pg_class WHERE relpersistence = 't' "
        "UNION ALL SELECT 'table:' || relname FROM pg_class c JOIN pg_namespace n "
        "  ON n.oid = relnamespace WHERE nspname = 'public') l(x)");
    if (!rows) return rows.error().what;
    return rows->at(0).at(0).value_or("");
  }

  std::string leftovers() const {
    std::string found;
    for (int i = 0; i < 250; ++i) {
      found = on_server();
      for (const pid_t pid : processes()) found += " process:" + std::to_string(pid);
      if (found.empty()) return found;
      std::this_thread::sleep_for(20ms);
    }
    return found;
  }

  // Until the program works on the server; false if it has ended before.
  static bool works_now(pid_t pid) {
    for (int i = 0; i < 1500; ++i) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) == pid) return false;
      auto monitor = force::PgMonitor::open(server_->dsn());
      auto rows = (*monitor)->query(
          "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> "
          "pg_backend_pid() AND (application_name LIKE 'isoscope/%' OR query LIKE '%pg_sleep%')");
      if (rows && rows->at(0).at(0) != "0") return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  // -1: it did not end in time.
  static int exit_code_of(pid_t pid) {
    for (int i = 0; i < 4000; ++i) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) == pid)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      std::this_thread::sleep_for(10ms);
    }
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return -1;
  }

  const TempFolder folder_;
  std::string waiting_;
  std::string mark_;
  static inline int runs_ = 0;
};

TEST_F(LeftoversTest, AfterANormalEndNothingIsLeft) {
  for (const std::string& words :
       {"force " + example("force/lost-update.spec"), "force " + example("sql/bank.sql"),
        std::string("probe --only P4"),
        std::string("stress --txns 200 --isolation SERIALIZABLE --level ser"),
        "stress --workload " + example("sql/bank.sql") +
            " --txns 50 --isolation SERIALIZABLE --level ser"}) {
    const int code = exit_code_of(start(words + dsn()));
    EXPECT_TRUE(code == 0 || code == 1 || code == 3) << words << ": " << code;
    EXPECT_EQ(leftovers(), "") << words;
  }
}

TEST_F(LeftoversTest, AfterASignalNothingIsLeft) {
  for (const int signal : {SIGINT, SIGTERM}) {
    for (const Work& work : works()) {
      const pid_t pid = start(work.words);
      ASSERT_TRUE(works_now(pid)) << work.name;
      ::kill(pid, signal);
      EXPECT_NE(exit_code_of(pid), -1) << work.name << " does not end";
      EXPECT_EQ(leftovers(), "") << work.name << " after signal " << signal;
    }
  }
}

// A command that force runs is killed: force goes on, ends by itself, and leaves nothing.
TEST_F(LeftoversTest, AfterAChildWasKilledNothingIsLeft) {
  const std::string words = works()[2].words + " --timeout 5";
  const pid_t pid = start(words);
  ASSERT_TRUE(works_now(pid));
  std::size_t killed = 0;
  for (const pid_t child : processes()) {
    std::ifstream file("/proc/" + std::to_string(child) + "/cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (child != pid && line.find("psql") != std::string::npos) {
      ::kill(child, SIGKILL);
      ++killed;
    }
  }
  EXPECT_GE(killed, 1U);
  EXPECT_NE(exit_code_of(pid), -1);
  EXPECT_EQ(leftovers(), "");
}

// The program itself is killed, in the middle of statements that would go on for a minute.
TEST_F(LeftoversTest, AfterTheProgramWasKilledNothingIsLeft) {
  for (const Work& work : works()) {
    const pid_t pid = start(work.words);
    ASSERT_TRUE(works_now(pid)) << work.name;
    ::kill(pid, SIGKILL);
    EXPECT_EQ(exit_code_of(pid), 128 + SIGKILL) << work.name;
    EXPECT_EQ(leftovers(), "") << work.name;
  }
}

// Commands may leave their process group, ignore signals, and do nothing at all.
TEST_F(LeftoversTest, CommandsThatHideAreFound) {
  const std::string script =
      folder_.add("hide.sh",
                  "trap '' TERM INT HUP\n(setsid sh -c 'trap \"\" TERM; sleep 300' &)\n"
                  "psql -qX -c 'CREATE TEMPORARY TABLE mine (id int)' -c 'SELECT pg_sleep(60)'\n");
  const std::string hiding = "force" + dsn() + " --setup true --teardown true --run 'a=sh " +
                             script + "' --run 'b=sh " + script + "'";
  for (const int signal : {SIGTERM, SIGKILL}) {
    const pid_t pid = start(hiding);
    ASSERT_TRUE(works_now(pid));
    ::kill(pid, signal);
    EXPECT_NE(exit_code_of(pid), -1);
    EXPECT_EQ(leftovers(), "") << "after signal " << signal;
  }
}

}  // namespace
}  // namespace isoscope
