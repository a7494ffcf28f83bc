// What commands do about the files that they are told to read and write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const char* const kHistory = "s1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]\n";
const char* const kObserved = "s1: [r(x,0) w(x,1)]\ns2: [r(x,1) w(x,2)]\n";
const char* const kProgram =
    "session a { { v := read(x); write(x, v + 1) } }\n"
    "session b { { v := read(x); write(x, v + 1) } }\n"
    "assert a[1].v != b[1].v\n";
const char* const kApplication =
    "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL);\n"
    "CREATE FUNCTION bump(k int) RETURNS void AS $$\n"
    "DECLARE v int;\n"
    "BEGIN\n"
    "  SELECT n INTO v FROM t WHERE id = k;\n"
    "  UPDATE t SET n = v + 1 WHERE id = k;\n"
    "END $$ LANGUAGE plpgsql;\n";
const char* const kSpec = "level mine over co extends cc\n";

// A folder with one input of each kind; commands run in it.
class CliFiles : public testing::Test {
 protected:
  CliFiles() {
    for (const auto& [file, text] : inputs()) folder_.add(file, text);
  }

  static std::map<std::string, std::string> inputs() {
    return {{"h.hist", kHistory},
            {"o.hist", kObserved},
            {"p.txn", kProgram},
            {"a.sql", kApplication},
            {"s.level", kSpec}};
  }
  Ran run(const std::string& arguments, const std::string& setup = {}) const {
    return run_isoscope_in(folder_.path(), arguments, {}, setup);
  }
  std::string complaint(const std::string& arguments) const {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments << "\n" << ran.out << ran.err;
    EXPECT_EQ(ran.out, "") << arguments;
    for (const auto& [file, text] : inputs()) EXPECT_EQ(text_of(file), text) << arguments;
    return ran.err;
  }
  std::string text_of(const std::string& file) const { return folder_.text_of(file); }
  std::set<std::string> new_files() const {
    std::set<std::string> names = folder_.names();
    for (const auto& [file, text] : inputs()) names.erase(file);
    return names;
  }

  TempFolder folder_;
};

struct CommandFiles {
  std::string command;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  // options
};

// Every command that has outputs, with every option for a file.
std::vector<CommandFiles> commands_with_files() {
  return {
      {"check h.hist --level cc,si --spec s.level",
       {"h.hist", "s.level"},
       {"-o", "--dot", "--svg", "--html", "--junit", "--sarif", "--minimize"}},
      {"predict o.hist --level cc --spec s.level --app p.txn",
       {"o.hist", "s.level", "p.txn"},
       {"-o", "--dot", "--svg", "--html", "--junit", "--sarif", "--predicted"}},
      {"audit a.sql --level ec --spec s.level",
       {"a.sql", "s.level"},
       {"-o", "--dot", "--svg", "--html", "--junit", "--sarif", "--history"}},
      {"explore p.txn --level cc --spec s.level",
       {"p.txn", "s.level"},
       {"-o", "--dot", "--svg", "--html", "--histories"}},
      {"run p.txn --store weak --level cc --spec s.level",
       {"p.txn", "s.level"},
       {"-o", "--svg", "--html", "--trace"}},
      {"synth --allow si --forbid ser --spec s.level",
       {"s.level"},
       {"-o", "--dot", "--svg", "--html"}},
      {"compare --matrix si ser --spec s.level", {"s.level"}, {"-o", "--dot", "--svg", "--html"}},
      {"convert h.hist --to jsonl", {"h.hist"}, {"-o"}},
      {"stats h.hist", {"h.hist"}, {"-o"}},
      {"levels --spec s.level", {"s.level"}, {"-o"}},
  };
}

TEST_F(CliFiles, AreAllDeclared) {
  // Options of type FILE that check_files() does not know stop the program with an assertion.
  for (const CommandFiles& one : commands_with_files()) {
    const Ran ran = run(one.command);
    EXPECT_THAT(ran.exit_code, testing::AnyOf(0, 1)) << one.command << ran.err;
  }
  EXPECT_EQ(run("generate history --txns 10 -o new.jsonl").exit_code, 0);
  EXPECT_EQ(run("generate program smallbank -o new.txn").exit_code, 0);
}

TEST_F(CliFiles, RefuseAnOutputThatIsAnInput) {
  fs::create_directory(folder_.at("sub"));
  for (const CommandFiles& one : commands_with_files()) {
    for (const std::string& input : one.inputs) {
      fs::remove(folder_.at("hard"));
      fs::remove(folder_.at("soft"));
      fs::create_hard_link(folder_.at(input), folder_.at("hard"));
      fs::create_symlink(input, folder_.at("soft"));
      for (const std::string& option : one.outputs) {
        for (const std::string& name : {input, "./sub/../" + input, folder_.at(input),
                                        std::string("hard"), std::string("soft")}) {
          std::string arguments = one.command;
          arguments += " " + option + " ";
          arguments += name;
          EXPECT_THAT(complaint(arguments), HasSubstr("would overwrite the input")) << arguments;
        }
      }
    }
  }
}

TEST_F(CliFiles, RefuseAnOutputThatIsAnotherOutput) {
  folder_.add("there", "old");
  fs::create_hard_link(folder_.at("there"), folder_.at("hard"));
  fs::create_symlink("new", folder_.at("dangling"));
  for (const CommandFiles& one : commands_with_files()) {
    for (std::size_t i = 1; i < one.outputs.size(); ++i) {
      for (const auto& [a, b] : std::map<std::string, std::string>{
               {"new", "./new"}, {"dangling", "new"}, {"there", "hard"}}) {
        std::string arguments = one.command;
        arguments += " " + one.outputs[i - 1] + " " + a + " ";
        arguments += one.outputs[i] + " " + b;
        EXPECT_THAT(complaint(arguments), HasSubstr("would write one file")) << arguments;
      }
      EXPECT_THAT(complaint(one.command + " " + one.outputs[i] + " -"),
                  HasSubstr("would be mixed on standard output"));
      EXPECT_THAT(complaint(one.command + " " + one.outputs[i] + " /dev/stdout"),
                  HasSubstr("would be mixed on standard output"));
    }
  }
  EXPECT_EQ(text_of("there"), "old");
  EXPECT_THAT(new_files(), ElementsAre("dangling", "hard", "there"));
}

TEST_F(CliFiles, RefuseStandardOutputThatIsAnInput) {
  EXPECT_EQ(run("stats h.hist >>h.hist 2>complaint").exit_code, 2);
  EXPECT_EQ(text_of("h.hist"), kHistory);
  EXPECT_THAT(text_of("complaint"), HasSubstr("would overwrite the input HISTORY"));
}

TEST_F(CliFiles, AllowOutputsThatDoNotMeet) {
  // Without a report, the picture may go to standard output; devices may be used twice.
  const Ran picture = run("check h.hist --level si --quiet --dot -");
  EXPECT_EQ(picture.exit_code, 1);
  EXPECT_THAT(picture.out, AllOf(HasSubstr("digraph"), testing::Not(HasSubstr("violated  "))));
  EXPECT_EQ(run("check h.hist --level si -o /dev/null --dot /dev/null").exit_code, 1);
  EXPECT_EQ(run("check h.hist --level si -o report --dot -").exit_code, 1);
  const Ran in_place = run("check h.hist --level si -o /dev/stdout");
  EXPECT_THAT(in_place.out, HasSubstr("violated"));
}

TEST_F(CliFiles, RefuseStandardInputForTwoInputs) {
  EXPECT_THAT(complaint("check - --level mine --spec -"),
              HasSubstr("--spec cannot both be standard input"));
  EXPECT_THAT(complaint("run - --store replay --history /dev/stdin"),
              HasSubstr("cannot both be standard input"));
}

TEST_F(CliFiles, SayWhatCannotBeWrittenBeforeReading) {
  // The input does not exist either; what cannot be written is said first.
  EXPECT_THAT(complaint("check missing.hist --level si --dot no/such/folder.dot"),
              HasSubstr("no/such/folder.dot: error: cannot write: No such file or directory"));
  EXPECT_THAT(complaint("check missing.hist --level si -o ."),
              HasSubstr(".: error: cannot write: Is a directory"));
  EXPECT_THAT(complaint("check missing.hist --level si --dot ''"),
              HasSubstr("--dot needs the name of a file"));
}

TEST_F(CliFiles, KeepTheOldFileWhenTheDiskIsFull) {
  folder_.add("out", "old");
  const Ran ran = run("generate history --txns 100000 -o out");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  folder_.add("out", "old");
  const Ran full = run("generate history --txns 100000 -o out", "ulimit -f 100;");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_THAT(full.err, HasSubstr("out: error: cannot write: File too large"));
  EXPECT_EQ(text_of("out"), "old");
  EXPECT_THAT(new_files(), ElementsAre("out"));
  const Ran device = run("stats h.hist -o /dev/full");
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_THAT(device.err, HasSubstr("/dev/full: error: cannot write: No space left on device"));
  EXPECT_EQ(run("stats h.hist >/dev/full 2>complaint").exit_code, 2);
  EXPECT_THAT(text_of("complaint"), HasSubstr("cannot write: No space left on device"));
}

TEST_F(CliFiles, StopTheExplorationWhenItsFileCannotGrow) {
  std::string endless;
  for (int s = 0; s < 8; ++s) {
    const std::string n = std::to_string(s);
    endless += "session s" + n + " { { a := read(x); b := read(y); write(x, " + n;
    endless += "); write(y, " + n + ") } }\n";
  }
  folder_.add("endless.txn", endless);
  const Ran full = run("explore endless.txn --level rc --histories all.jsonl", "ulimit -f 100;");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_THAT(full.err, HasSubstr("all.jsonl: error: cannot write: File too large"));
  std::istringstream lines(text_of("all.jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) ASSERT_TRUE(json::accept(line));
  EXPECT_GT(count, 10U);
  EXPECT_EQ(text_of("all.jsonl").back(), '\n');
}

TEST_F(CliFiles, DoNotWriteIntoFilesInPlaceOfClosedDescriptors) {
  EXPECT_EQ(run("check h.hist --level si --dot picture >&- 2>complaint").exit_code, 2);
  EXPECT_THAT(text_of("complaint"), HasSubstr("cannot write: Bad file descriptor"));
  EXPECT_THAT(new_files(), ElementsAre("complaint"));
}

TEST_F(CliFiles, RefuseNumberedOutputsThatAreInputs) {
  const std::string spec = "level mine over co extends cc\n";
  folder_.add("out-1.hist", spec);
  const std::string error =
      complaint("synth --allow si --forbid ser --all --to hist --spec out-1.hist -o out.hist");
  EXPECT_THAT(error, HasSubstr("would overwrite the input --spec"));
  EXPECT_EQ(text_of("out-1.hist"), spec);
}

}  // namespace
}  // namespace isoscope
