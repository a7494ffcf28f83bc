// Input full of control characters: what the program prints and draws has none of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "cli/run_isoscope.h"
#include "support/printable.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// What a terminal obeys, what forges lines, what turns the direction of writing; in UTF-8.
const std::string kHostile =
    "a\x1b[2J\x1b[32m\x1b]0;t\x07\n"
    "FORGED\r\b\x7f\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x80\xa8z";
// The same between the quotes of a hist file, with a byte that is no UTF-8.
const std::string kHostileInHist =
    R"(a\x1b[2J\x1b[32m\x1b]0;t\x07\nFORGED\r\x08\x7f\xc2\x9b31m\xe2\x80\xae\xe2\x80\xa8\xff\xc3z)";

// Where the text is not fit for a terminal, or nothing.
std::string unfit(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const FirstCharacter c = first_character(std::string_view(text).substr(i));
    if (!c.is_visible && c.code != '\n' && c.code != '\t')
      return "byte " + std::to_string(i) + " of\n" + printable_lines(text);
    i += c.size;
  }
  if (("\n" + text).find("\nFORGED") != std::string::npos) return "a forged line in\n" + text;
  return {};
}

// The colours that reports have when they are asked to, and nothing else that begins with ESC.
std::string without_colours(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[(0|1|2|33|32|31;1)m"), "");
}

class CliHostile : public testing::Test {
 protected:
  // A history whose every name and text is hostile; the second loses the update of the first.
  std::string jsonl() const {
    std::string text = json{{"format", "isoscope-history/1"}}.dump() + "\n";
    for (const char* session : {"1", "2"}) {
      text += json{{"session", kHostile + session},
                   {"id", kHostile + "T" + session},
                   {"status", "committed"},
                   {"ops", {{"r", kHostile, nullptr}, {"w", kHostile, kHostile + session}}}}
                  .dump() +
              "\n";
    }
    return folder_.add("h.jsonl", text);
  }
  std::string hist() const {
    const std::string x = "\"" + kHostileInHist + "\"";
    return folder_.add("h.hist", "init " + x + "=\"" + kHostileInHist + "0\"\ns1: [r(" + x + ",\"" +
                                     kHostileInHist + "0\") w(" + x + ",1)]\ns2: [r(" + x + ",\"" +
                                     kHostileInHist + "0\") w(" + x + ",2)]\n");
  }
  // SQL with hostile names of tables, columns, functions and parameters, and hostile values.
  std::string sql() const {
    const auto name = [](const std::string& end) { return "\"" + kHostile + end + "\""; };
    return folder_.add(
        "a.sql", "CREATE TABLE " + name("t") + " (" + name("id") + " text PRIMARY KEY, " +
                     name("n") + " int NOT NULL);\nCREATE FUNCTION " + name("f") + "(" + name("p") +
                     " text) RETURNS int AS $$\nDECLARE v int;\nBEGIN\n  SELECT " + name("n") +
                     " INTO v FROM " + name("t") + " WHERE " + name("id") + " = " + name("p") +
                     ";\n  UPDATE " + name("t") + " SET " + name("n") + " = v + 1 WHERE " +
                     name("id") + " = " + name("p") + ";\n  RETURN v;\nEND $$ LANGUAGE plpgsql;\n");
  }
  // Runs it, looks at everything that it wrote, and returns the exit code.
  int run(const std::string& arguments, const std::string& input = {}) {
    const Ran ran = run_isoscope_in(folder_.path(), arguments, input);
    EXPECT_EQ(unfit(without_colours(ran.out)), "") << arguments;
    EXPECT_EQ(unfit(without_colours(ran.err)), "") << arguments;
    EXPECT_EQ(ran.err.find("internal error"), std::string::npos) << arguments << ran.err;
    if (arguments.find("--color always") == std::string::npos) {
      EXPECT_EQ(unfit(ran.out), "") << arguments;
    }
    if (arguments.find("--json") != std::string::npos && ran.exit_code != 2) {
      EXPECT_TRUE(json::accept(ran.out)) << arguments;
    }
    for (const char* file : {"out", "out.dot", "out.svg", "out.html"}) {
      EXPECT_EQ(unfit(folder_.text_of(file)), "") << arguments << " " << file;
    }
    told_ += ran.out + ran.err + folder_.text_of("out") + folder_.text_of("out.dot");
    return ran.exit_code;
  }
  bool has_told(const std::string& text) const { return told_.find(text) != std::string::npos; }

  TempFolder folder_;
  std::string told_;
};

TEST_F(CliHostile, HistoriesAreShownWithoutControlCharacters) {
  for (const std::string& file : {jsonl(), hist()}) {
    const std::string to = file.ends_with("hist") ? "hist" : "jsonl";
    told_.clear();
    for (const char* format : {"", " --json", " --color always", " --explain all"}) {
      EXPECT_EQ(
          run("check " + file +
              " --level cc,si --dot out.dot --svg out.svg --html out.html --minimize out --to " +
              to + format),
          1);
      EXPECT_EQ(
          run("check " + file + " --level cc --dot out.dot --svg out.svg --html out.html" + format),
          0);
    }
    EXPECT_TRUE(has_told("\\nFORGED"));
    EXPECT_TRUE(has_told("\\\\nFORGED"));  // in DOT
    EXPECT_EQ(run("stats " + file), 0);
    EXPECT_EQ(run("stats " + file + " --json"), 0);
    for (const char* format :
         {"hist", "jsonl", "elle", "plume", "dbcop", "awdit-test", "isopredict"}) {
      const int code = run("convert " + file + " --to " + format);
      EXPECT_TRUE(code == 0 || code == 2) << format;
    }
  }
}

TEST_F(CliHostile, ConvertedHistoriesKeepTheirNames) {
  const std::string from = jsonl();
  ASSERT_EQ(run("convert " + from + " --to jsonl -o out"), 0);
  ASSERT_EQ(run("convert out --to jsonl -o again"), 0);
  EXPECT_EQ(folder_.text_of("again"), folder_.text_of("out"));
  std::istringstream lines(folder_.text_of("again"));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line) && std::getline(lines, line));
  EXPECT_EQ(json::parse(line)["ops"][1][1], kHostile);
  ASSERT_EQ(run("convert " + hist() + " --to hist -o out"), 0);
  ASSERT_EQ(run("convert out --to hist -o again"), 0);
  EXPECT_EQ(folder_.text_of("again"), folder_.text_of("out"));
  EXPECT_THAT(folder_.text_of("out"), HasSubstr(R"(\xff\xc3z)"));
}

TEST_F(CliHostile, PredictionsAreShownWithoutControlCharacters) {
  std::string text = json{{"format", "isoscope-history/1"}}.dump() + "\n";
  const auto txn = [](const std::string& name, const json& read, const json& written) {
    return json{{"session", kHostile + name},
                {"id", kHostile + "T" + name},
                {"status", "committed"},
                {"ops", {{"r", kHostile, read}, {"w", kHostile, written}}}}
               .dump() +
           "\n";
  };
  text += txn("1", nullptr, kHostile + "1") + txn("2", kHostile + "1", kHostile + "2");
  folder_.add("trace.jsonl", text);
  for (const char* format : {"", " --json", " --color always"}) {
    EXPECT_EQ(run("predict trace.jsonl --level cc --dot out.dot --svg out.svg --html out.html "
                  "--predicted out" +
                  std::string(format)),
              1);
  }
  EXPECT_TRUE(has_told("\\nFORGED"));
}

TEST_F(CliHostile, ApplicationsAreShownWithoutControlCharacters) {
  const std::string app = sql();
  for (const char* format : {"", " --json", " --color always"}) {
    EXPECT_EQ(run("audit " + app +
                  " --level ec --dot out.dot --svg out.svg --html out.html --history out" + format),
              1);
    EXPECT_EQ(run("audit " + app + " --level ec --all --advise" + std::string(format)), 1);
    EXPECT_THAT(run("audit " + app + " --level si --prove" + std::string(format)),
                testing::AnyOf(0, 3));
  }
  EXPECT_TRUE(has_told("\\nFORGED"));
}

TEST_F(CliHostile, ProgramsAreShownWithoutControlCharacters) {
  // Sessions of SQL programs stand in comments, one a line, so that no newline can be in them.
  const std::string evil = "\x1b[2J\x07\xc2\x9b\xe2\x80\xae";
  const std::string app = folder_.add(
      "p.sql", "CREATE TABLE \"t" + evil + "\" (id text PRIMARY KEY, n text NOT NULL);\n" +
                   "INSERT INTO \"t" + evil + "\" VALUES ('" + evil + "', '0" + evil +
                   "');\nCREATE FUNCTION \"f" + evil +
                   "\"(p text) RETURNS void AS $$\nDECLARE v text;\nBEGIN\n"
                   "  SELECT n INTO v FROM \"t" +
                   evil + "\" WHERE id = p;\n  UPDATE \"t" + evil +
                   "\" SET n = v || p WHERE id = p;\nEND $$ LANGUAGE plpgsql;\n" +
                   "-- session a: \"f" + evil + "\"('" + evil + "')\n" + "-- session b: \"f" +
                   evil + "\"('" + evil + "')\n");
  for (const char* format : {"", " --json", " --color always"}) {
    EXPECT_EQ(run("explore " + app + " --level cc --outcomes --histories out" + format), 0);
    EXPECT_EQ(run("run " + app + " --store weak --level cc --runs 50 --trace out" + format), 1);
    EXPECT_EQ(
        run("run " + app + " --store weak --level cc --runs 50 --to hist --trace out" + format), 1);
  }
  EXPECT_TRUE(has_told("\\x1b[2J"));
  EXPECT_TRUE(has_told("\\u202e"));
}

TEST_F(CliHostile, LevelsAreShownWithoutControlCharacters) {
  folder_.add("s.level",
              "level mine over co extends cc   # \x1b[2J\x07\xe2\x80\xae\xff\n"
              "# \x1b[2J\xc2\x9b a comment\n"
              "axiom A: forall t: txn. not wr(t, t)\n");
  for (const char* format : {"", " --json", " --color always"}) {
    EXPECT_EQ(run("levels --spec s.level" + std::string(format)), 0);
    EXPECT_EQ(run("levels mine --spec s.level" + std::string(format)), 0);
    EXPECT_EQ(run("compare mine cc --spec s.level" + std::string(format)), 0);
    EXPECT_EQ(run("synth --allow mine --forbid si --spec s.level --dot out.dot --svg out.svg "
                  "--html out.html" +
                  std::string(format)),
              1);
  }
  EXPECT_TRUE(has_told("\\x1b[2J"));
}

TEST_F(CliHostile, ErrorsQuoteWithoutControlCharacters) {
  const std::string raw = kHostile + "\xff\xc3";
  for (const char* command :
       {"check - --level si", "stats -", "convert - --to hist", "predict - --level si",
        "audit - --level si", "explore - --level si", "run - --store serial"}) {
    EXPECT_EQ(run(command, raw), 2) << command;
    EXPECT_EQ(run(command, "s1: [r(x,0) " + raw), 2) << command;
    EXPECT_EQ(run(command, "session a { { " + raw), 2) << command;
    EXPECT_EQ(run(command, "CREATE TABLE t (id " + raw), 2) << command;
    EXPECT_EQ(run(command, "{\"format\":\"isoscope-history/1\"}\n{\"" + raw), 2) << command;
  }
  folder_.add("s.level", "level a over co\naxiom A: " + raw);
  EXPECT_EQ(run("levels --spec s.level"), 2);
  EXPECT_TRUE(has_told("\\x1b"));
}

TEST_F(CliHostile, ArgumentsAreQuotedWithoutControlCharacters) {
  std::string word = "'" + kHostile + "\xff'";
  for (const std::string& arguments : {word,
                                       "check " + word + " --level si",
                                       "check - --level " + word,
                                       "check - --level si --format " + word,
                                       "check - --level si --explain " + word,
                                       "check - --level si --dot " + word + "/x",
                                       "check - --level si -o " + word + "/x",
                                       "check - --level si --" + word,
                                       "check - --level si --timeout " + word,
                                       "check " + word + " - --level si",
                                       "check - --level si --spec " + word,
                                       "convert - --to " + word,
                                       "predict - --level si --boundary " + word,
                                       "audit " + word + " --level si",
                                       "audit - --only " + word + " --level si",
                                       "explore " + word + " --level si",
                                       "explore - --level " + word,
                                       "run " + word + " --store serial",
                                       "run - --store " + word,
                                       "synth --allow " + word,
                                       "compare " + word + " si",
                                       "levels " + word,

                                       "generate history --level " + word,
                                       "generate history --inject " + word,
                                       "generate program " + word,
                                       "stats " + word}) {
    told_.clear();
    EXPECT_EQ(run(arguments), 2) << arguments;
    EXPECT_TRUE(has_told("\\x1b")) << arguments << told_;
  }
}

// A file may have such a name, too.
TEST_F(CliHostile, FileNamesAreShownWithoutControlCharacters) {
  const std::string name = "evil\x1b[2J\nFORGED\xff";
  folder_.add(name + ".hist", "s1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]\n");
  folder_.add(name + ".txn",
              "session a { { v := read(x); write(x, v + 1) } }\n"
              "session b { { v := read(x); write(x, v + 1) } }\nassert a[1].v != b[1].v\n");
  for (const char* format : {"", " --json"}) {
    EXPECT_EQ(run("check '" + name + ".hist' --level si" + format), 1);
    EXPECT_EQ(run("explore '" + name + ".txn' --level cc" + format), 1);
    EXPECT_EQ(run("run '" + name + ".txn' --store weak --level cc --runs 50" + format), 1);
  }
  EXPECT_EQ(run("check '" + name + ".hist' --level si -o '" + name + ".hist'"), 2);
  EXPECT_TRUE(has_told("evil\\x1b[2J\\nFORGED\\xff"));
}

}  // namespace
}  // namespace isoscope
