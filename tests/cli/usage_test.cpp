// Slips of whoever types a command: what is wrong is named, and what was meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "cli/run_isoscope.h"
#include "support/compressed.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

Ran in_project(const std::string& arguments, const std::string& input = {}) {
  return run_isoscope_in(source_dir(), arguments, input);
}

struct Slip {
  std::string arguments;
  std::string says;
  std::string hint;
};

void expect_slips(const std::vector<Slip>& slips) {
  for (const Slip& slip : slips) {
    SCOPED_TRACE(slip.arguments);
    const Ran ran = in_project(slip.arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.out;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(HasSubstr(slip.says), HasSubstr(slip.hint)));
    // Numbers are as people write them.
    EXPECT_FALSE(std::regex_search(ran.err, std::regex("[0-9]{21}"))) << ran.err;
  }
}

TEST(Usage, NamesAMistypedOption) {
  const std::string check = "check examples/lost-update.hist ";
  expect_slips({
      {check + "--levle si", "unknown option '--levle'", "did you mean '--level'?"},
      {check + "--level si --jsno", "unknown option '--jsno'", "did you mean '--json'?"},
      {check + "--level si --explian=all", "unknown option '--explian'", "'--explain'"},
      {check + "-level si", "unknown option '-level'", "did you mean '--level'?"},
      {check + "--level si -x", "unknown option '-x'", "isoscope check --help lists the options"},
      {check + "--level si --banana", "unknown option '--banana'", "isoscope check --help"},
      {"generate history --txn 5", "unknown option '--txn'", "did you mean '--txns'?"},
      {"generate program tpcc --wharehouses 5", "unknown option", "'--warehouses'"},
      {"synth --alow si --forbid ser", "unknown option '--alow'", "did you mean '--allow'?"},
      {"explore examples/programs/bank.txn --level cc --thread 2", "'--thread'", "'--threads'"},
      {"--versoin", "unknown option '--versoin'", "did you mean '--version'?"},
  });
}

TEST(Usage, NamesAMistypedValue) {
  const std::string check = "check examples/lost-update.hist ";
  const std::string bank = "examples/programs/bank.txn ";
  expect_slips({
      {check + "--level sre", "unknown level 'sre'", "did you mean 'ser'?"},
      {check + "--level serializabel", "unknown level", "did you mean 'serializable'?"},
      {check + "--level si --format hsit", "unknown format 'hsit'", "did you mean 'hist'?"},
      {check + "--level si --explain frist", "there is no 'frist'", "did you mean 'first'?"},
      {check + "--level si --color sometimes", "there is no 'sometimes'", "known: auto, always"},
      {"convert examples/lost-update.hist --to jsnol", "unknown format", "'jsonl'"},
      {"run " + bank + "--store seril", "there is no 'seril'", "did you mean 'serial'?"},
      {"audit examples/audit/bank.sql --level si --conflicts rwo", "no 'rwo'", "'row'"},
      {"chekc x", "unknown command 'chekc'", "did you mean 'check'?"},
      {"hlep", "unknown command 'hlep'", "did you mean 'help'?"},
  });
}

TEST(Usage, TellsWhichNumbersArePossible) {
  const std::string bank = "examples/programs/bank.txn ";
  const std::string huge = "99999999999999999999";
  expect_slips({
      {"synth --forbid ser --txns abc", "'abc' is no whole number", "from 1 to 40"},
      {"synth --forbid ser --txns 2.5", "'2.5' is no whole number", "from 1 to 40"},
      {"synth --forbid ser --txns -1", "-1 is too small", "from 1 to 40"},
      {"synth --forbid ser --txns 0", "0 is too small", "from 1 to 40"},
      {"synth --forbid ser --txns " + huge, "is too large", "from 1 to 40"},
      {"synth --forbid ser --most-txns 1000", "1000 is too large", "from 1 to 40"},
      {"compare si ser --keys 1000000", "1000000 is too large", "from 1 to 40"},
      {"check - --level si --most 1e9", "'1e9' is no whole number", "from 1 to 1,000,000,000"},
      {"run " + bank + "--store weak --level cc --runs " + huge, "too large", "1,000,000,000"},
      {"run " + bank + "--store weak --level cc --seed x", "'x' is no whole number", "from 0"},
      {"explore " + bank + "--level cc --threads 100000", "too large", "from 0 to 1,024"},
      {"explore " + bank + "--level cc --violations many", "'many' is no whole number", "from 0"},
      {"predict x --level cc --all 0", "0 is too small", "from 1 to 1,000,000"},
      {"audit examples/audit/bank.sql --level si --cycle 9", "9 is too large", "from 2 to 8"},
      {"generate history --txns " + huge, "too large", "from 1 to 100,000,000,000"},
      {"generate history --keys -5", "-5 is too small", "from 1 to 4,000,000,000"},
      {"generate history --reads abc", "'abc' is no number", "from 0 to 1"},
      {"generate history --reads 1.5", "1.5 is out of range", "from 0 to 1"},
      {"generate history --lag nan", "nan is out of range", "from 1 to 100000"},
      {"generate program tpcc --sessions many", "'many' is no whole number", "from 1 to 5,000"},
      {"generate program tpcc --warehouses 1e5", "'1e5' is no whole number", "from 0"},
      {"check - --level si --timeout abc", "'abc' is no number of seconds", ""},
      {"check - --level si --memory lots", "'lots' is no amount of memory", ""},
  });
}

TEST(Usage, SaysWhatIsMissing) {
  expect_slips({
      {"synth", "synth needs levels", "--allow si --forbid ser"},
      {"synth --txns 3", "synth needs levels", "--allow si --forbid ser"},
      {"check examples/lost-update.hist", "--level is required", "isoscope levels"},
      {"check", "HISTORY is required", "isoscope check --help"},
      {"", "there is no command", "isoscope --help"},
      {"generate", "there is no command", "isoscope generate --help"},
  });
}

TEST(Usage, RecognisesAFileOfAnotherKind) {
  const std::string hist = "examples/lost-update.hist ";
  const std::string txn = "examples/programs/bank.txn ";
  const std::string sql = "examples/audit/bank.sql ";
  const std::string level = "examples/no-long-fork.level ";
  expect_slips({
      {"check " + txn + "--level si", "bank.txn: error: this is a .txn program, not a history",
       "isoscope explore and run"},
      {"check " + sql + "--level si", "this is an SQL program, not a history", "isoscope audit"},
      {"check " + level + "--level si", "declares levels, not a history", "--spec FILE"},
      {"stats " + txn, "this is a .txn program", "isoscope explore"},
      {"explore " + hist + "--level si", "this is a history, not a .txn program",
       "isoscope check, predict"},
      {"run " + level + "--store serial", "declares levels, not a .txn program", "--spec FILE"},
      {"audit " + hist + "--level si", "this is a history, not an SQL program", "isoscope check"},
      {"audit " + txn + "--level si", "this is a .txn program, not an SQL", "explore and run"},
      {"levels --spec " + hist, "this is a history, not a text that declares levels", "check"},
      {"levels --spec " + sql, "this is an SQL program, not a text", "audit"},
  });
  // Every format of histories is known where a program is wanted.
  for (const char* format : {"hist", "jsonl", "plume", "awdit-test", "dbcop", "elle"}) {
    const Ran made =
        run_isoscope(std::string("generate history --txns 9 --reads 0 --to ") + format);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(run_isoscope("explore - --level si", made.out).err,
                HasSubstr("this is a history, not a .txn program"))
        << format;
  }
}

// Mistakes in a file of the right kind are told as such.
TEST(Usage, KeepsTheErrorOfAFileOfTheRightKind) {
  const auto error_of = [](const std::string& arguments, const std::string& input) {
    const Ran ran = run_isoscope(arguments, input);
    EXPECT_EQ(ran.exit_code, 2) << input;
    return ran.err;
  };
  EXPECT_THAT(error_of("explore - --level si", "x := 1\n"), HasSubstr("<stdin>:1:"));
  EXPECT_THAT(error_of("explore - --level si", "# a comment\ntransaction t() {}\n"),
              HasSubstr("<stdin>:2:"));
  EXPECT_THAT(error_of("check - --level si", "# a comment\ns1: [w(x 1)]\n"),
              HasSubstr("<stdin>:2:"));
  EXPECT_THAT(error_of("check - --level si", "init x=0\ns1: [w(x,1)"), HasSubstr("<stdin>:2:"));
  EXPECT_THAT(error_of("audit - --level si", "CREATE TABLE t (id int PRIMARY KEY\n"),
              HasSubstr("syntax error"));
}

TEST(Usage, ReadsFilesHoweverTheyAreStored) {
  const std::string level = "level mine over co extends si\n";
  const std::string dumped =
      "CREATE TABLE t (id integer PRIMARY KEY, n integer);\n"
      "CREATE FUNCTION f(i integer) RETURNS void LANGUAGE plpgsql AS $$\n"
      "DECLARE v integer;\nBEGIN\n  SELECT n INTO v FROM t WHERE id = i;\n"
      "  UPDATE t SET n = v + 1 WHERE id = i;\nEND;\n$$;\n";
  const std::string program = slurp(source_dir() + "/examples/programs/bank.txn");
  struct Reading {
    std::string arguments;
    std::string text;
  };
  std::vector<Reading> readings = {{"audit FILE --level ec --json", dumped},
                                   {"levels mine --spec FILE --json", level},
                                   {"explore FILE --level rc --json", program}};
  for (const char* format : {"hist", "jsonl", "plume", "awdit-test", "dbcop", "elle"})
    readings.push_back(
        {"check FILE --level si,ser --json",
         run_isoscope(std::string("generate history --level si --txns 60 --keys 4 --reads ") +
                      (format == std::string("awdit-test") ? "0" : "0.5") + " --to " + format)
             .out});
  const auto with_crlf = [](const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '\n' ? "\r\n" : std::string(1, c);
    return out;
  };
  const TempFolder folder;
  for (const Reading& reading : readings) {
    SCOPED_TRACE(reading.arguments + "\n" + reading.text.substr(0, 100));
    const auto answer = [&](const std::string& bytes) {
      folder.add("FILE", bytes);
      const Ran ran = run_isoscope_in(folder.path(), reading.arguments);
      EXPECT_THAT(ran.exit_code, AnyOf(0, 1)) << ran.err;
      const json parsed = json::parse(ran.out, nullptr, false);
      EXPECT_TRUE(parsed.is_object()) << ran.out;
      std::string said = std::to_string(ran.exit_code) + parsed.value("verdict", "");
      for (const char* member : {"transactions", "events", "histories", "anomalies"})
        said += parsed.value(member, json()).dump();
      for (const json& one : parsed.value("levels", json::array())) {
        if (one.is_object()) said += one.value("verdict", one.value("summary", ""));
      }
      return said;
    };
    const std::string plain = answer(reading.text);
    const std::string mark = "\xef\xbb\xbf";
    EXPECT_EQ(answer(mark + reading.text), plain);
    EXPECT_EQ(answer(gzipped(reading.text)), plain);
    EXPECT_EQ(answer(zstandard(mark + reading.text)), plain);
    EXPECT_EQ(answer(with_crlf(reading.text)), plain);
    EXPECT_EQ(answer(gzipped(mark + with_crlf(reading.text))), plain);
  }
  EXPECT_EQ(readings.size(), 9U);
  EXPECT_THAT(run_isoscope("stats -", gzipped("s1: [w(x,1)]").substr(0, 20)).err,
              HasSubstr("<stdin>: error: the gzip data ends too early"));
}

TEST(Usage, KnowsTheNamesThatPeopleUseForLevels) {
  const std::string check = "check examples/lost-update.hist --level ";
  for (const char* level : {"read-committed", "Read-Atomic", "CAUSAL", "prefix"})
    EXPECT_EQ(in_project(check + level).exit_code, 0) << level;
  for (const char* level : {"Snapshot-Isolation", "SERIALIZABLE", "serializable@vis"})
    EXPECT_EQ(in_project(check + level).exit_code, 1) << level;
  EXPECT_EQ(in_project("generate history --level snapshot-isolation --txns 5").out,
            in_project("generate history --level si --txns 5").out);
  EXPECT_EQ(in_project("levels serializable").out, in_project("levels ser").out);
  EXPECT_EQ(
      run_isoscope("check - --level rc", "s1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]@serializable")
          .exit_code,
      run_isoscope("check - --level rc", "s1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]@ser").exit_code);
  const Ran refused = in_project(check + "repeatable-read");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("different levels in different databases"),
                                 HasSubstr("pg-rr"), Not(HasSubstr("unknown level"))));
}

TEST(Usage, HelpsInEveryWay) {
  const auto same = [](const std::string& one, const std::string& other) {
    const Ran a = run_isoscope(one);
    EXPECT_EQ(a.exit_code, 0) << one;
    EXPECT_EQ(a.err, "");
    EXPECT_NE(a.out, "");
    EXPECT_EQ(a.out, run_isoscope(other).out) << one;
  };
  same("help", "--help");
  same("help check", "check --help");
  same("help generate", "generate --help");
  same("help generate history", "generate history --help");
  same("help help", "--help");
  same("help version", "--help");
  same("version", "--version");
  EXPECT_EQ(run_isoscope("help chekc").exit_code, 2);
  EXPECT_THAT(run_isoscope("help chekc").err, HasSubstr("did you mean 'check'?"));
  // Ranges stand in errors, not in the help.
  EXPECT_THAT(run_isoscope("help check").out, Not(HasSubstr("POSITIVE")));
}

}  // namespace
}  // namespace isoscope
