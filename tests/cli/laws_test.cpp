// Laws that every command keeps, whatever it does. The commands come from `isoscope --help` and
// their runs from the examples of their own --help, so that the next command is held to them too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/run_isoscope.h"
#include "support/doc_tables.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder in which the examples of --help can run: examples/ is there, and `isoscope` is found.
class Workshop {
 public:
  Workshop() : home_(::testing::TempDir() + "isoscope-laws-" + std::to_string(::getpid())) {
    fs::remove_all(home_);
    fs::create_directories(home_);
    for (const char* folder : {"examples", "levels"})
      fs::create_directory_symlink(fs::path(source_dir()) / folder, home_ / folder);
  }
  ~Workshop() { fs::remove_all(home_); }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  // Runs a line of shell here. Standard output and error are kept beside the folder.
  Ran run(const std::string& line) const {
    const std::string out = home_.string() + ".out";
    const std::string err = home_.string() + ".err";
    const std::string command = "cd " + home_.string() +
                                " && PATH=" + fs::path(isoscope_binary()).parent_path().string() +
                                ":$PATH && { " + line + "\n} </dev/null >" + out + " 2>" + err;
    const int status = std::system(command.c_str());
    Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(out), slurp(err)};
    fs::remove(out);
    fs::remove(err);
    return ran;
  }
  std::string read(const std::string& path) const { return slurp((home_ / path).string()); }

 private:
  fs::path home_;
};

// The lines of a part of a help text: from the line after `title` to one that is not indented.
std::vector<std::string> help_part(const std::string& help, std::string_view title) {
  std::vector<std::string> part;
  bool inside = false;
  LineReader lines = LineReader::over(help);
  for (std::string_view line; lines.next(line);) {
    if (line == title) {
      inside = true;
    } else if (inside) {
      if (!line.starts_with("  ")) break;
      part.emplace_back(line);
    }
  }
  return part;
}

// "generate history": the words that choose a command, and what it says about itself.
struct Command {
  std::string name;
  std::string help;
  bool has_subcommands = false;

  std::vector<std::string> examples() const {
    std::vector<std::string> result;
    for (const std::string& line : help_part(help, "Examples:"))
      result.push_back(line.substr(line.find_first_not_of(' ')));
    return result;
  }
  // Is this example one run of this command?
  bool is_plain(const std::string& example) const {
    return (example + " ").starts_with("isoscope " + name + " ") &&
           example.find_first_of("|&;<>#") == std::string::npos;
  }
  std::vector<std::string> plain_examples() const {
    std::vector<std::string> result = examples();
    std::erase_if(result, [this](const std::string& example) { return !is_plain(example); });
    return result;
  }
  // One whose report goes to standard output.
  std::string first_example() const {
    for (const std::string& example : plain_examples()) {
      if (example.find(" -o ") == std::string::npos) return example;
    }
    return {};
  }
  // Its examples cannot run here; tests of its own hold it to the laws.
  bool needs_a_server() const {
    static const std::regex required(R"(--dsn DSN +REQUIRED)");
    return std::regex_search(help, required);
  }
  // Does it write a history or a program on standard output, instead of a report?
  bool makes_documents() const { return name == "convert" || name.starts_with("generate "); }
};

void add_subcommands(const std::string& prefix, std::vector<Command>& commands) {
  const std::string help = run_isoscope(prefix + "--help").out;
  for (const std::string& line : help_part(help, "Subcommands:")) {
    if (line[2] == ' ') continue;  // a summary that goes on
    const std::string name = prefix + line.substr(2, line.find(' ', 2) - 2);
    commands.push_back({name, run_isoscope(name + " --help").out});
    commands.back().has_subcommands = !help_part(commands.back().help, "Subcommands:").empty();
    if (commands.back().has_subcommands) add_subcommands(name + " ", commands);
  }
}

// Every command and subcommand, in the order of the help.
const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> found;
    add_subcommands("", found);
    return found;
  }();
  return all;
}

// Calls `law` with each command that can be run, each in a fresh folder.
template <class Law>
void for_each_runnable(Law law) {
  std::size_t runnable = 0;
  for (const Command& command : commands()) {
    if (command.has_subcommands || command.needs_a_server()) continue;
    SCOPED_TRACE(command.name);
    ++runnable;
    law(command, Workshop());
  }
  EXPECT_GE(runnable, 12U);
}

// Calls `law` with each example that is one run of the command. The others run as they are, since
// an example may read what another one wrote.
template <class Law>
void for_each_example(Law law) {
  for_each_runnable([&](const Command& command, const Workshop& workshop) {
    for (const std::string& example : command.examples()) {
      SCOPED_TRACE(example);
      if (command.is_plain(example)) {
        law(command, workshop, example);
      } else {
        workshop.run(example);
      }
    }
  });
}

std::set<std::string> long_options(const std::string& help) {
  static const std::regex option(R"(--[a-z][a-z-]*)");
  std::set<std::string> result;
  LineReader lines = LineReader::over(help);
  for (std::string_view line; lines.next(line);) {
    if (line.find_first_not_of(' ') == std::string_view::npos || !line.starts_with("  ")) continue;
    const std::string text(line.substr(line.find_first_not_of(' ')));
    if (!text.starts_with("-")) continue;  // an explanation may mention options of others
    const std::string names = text.substr(0, text.find(' '));
    for (std::sregex_iterator found(names.begin(), names.end(), option), end; found != end; ++found)
      result.insert(found->str());
  }
  return result;
}

// README.md and all pages of docs/.
const std::string& documents() {
  static const std::string all = [] {
    std::string text = slurp(source_dir() + "/README.md");
    for (const auto& entry : fs::directory_iterator(source_dir() + "/docs")) {
      const bool is_page = entry.path().extension() == ".md" &&
                           !entry.path().filename().string().ends_with(".in.md");
      if (is_page) text += slurp(entry.path().string());
    }
    return text;
  }();
  return all;
}

bool mentions_option(const std::string& text, const std::string& option) {
  for (std::size_t at = text.find(option); at != std::string::npos;
       at = text.find(option, at + 1)) {
    const char next = at + option.size() < text.size() ? text[at + option.size()] : ' ';
    if (next != '-' && std::isalnum(static_cast<unsigned char>(next)) == 0) return true;
  }
  return false;
}

// "check" -> {"consistent", "violated", "unknown"}: the table of verdicts of docs/design.md.
std::set<std::string> documented_verdicts(const std::string& command) {
  static const std::regex word("`([a-z]+)`");
  const std::string first = command.substr(0, command.find(' '));
  std::set<std::string> words;
  for (const DocRow& row : doc_table(slurp(source_dir() + "/docs/design.md"), "command")) {
    if (row.at(0) != "`" + first + "`") continue;
    for (std::sregex_iterator found(row.at(1).begin(), row.at(1).end(), word), end; found != end;
         ++found)
      words.insert((*found)[1].str());
  }
  return words;
}

TEST(EveryCommand, IsFoundInTheHelp) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  EXPECT_THAT(names, Contains("check"));
  EXPECT_THAT(names, Contains("generate program"));
  EXPECT_GE(names.size(), 13U);
}

TEST(EveryCommand, HelpsWithExamples) {
  for (const Command& command : commands()) {
    const Ran ran = run_isoscope(command.name + " --help");
    EXPECT_EQ(ran.exit_code, 0) << command.name;
    EXPECT_EQ(ran.err, "") << command.name;
    EXPECT_FALSE(command.examples().empty()) << command.name;
    EXPECT_TRUE(command.has_subcommands || command.needs_a_server() ||
                !command.first_example().empty())
        << command.name;
  }
}

// Also of those that need a server, whose examples cannot run here.
TEST(EveryCommand, TakesTheCommonOptions) {
  for (const Command& command : commands()) {
    if (command.has_subcommands) continue;
    std::set<std::string> options;
    for (const char* group : {"Common:", "Output:"}) {
      for (const std::string& line : help_part(command.help, group))
        options.insert(line.substr(2, line.find(' ', 2) - 2));
    }
    for (const char* option :
         {"-h,--help", "--json", "-q,--quiet", "-o,--output", "--timeout", "--memory", "--color"})
      EXPECT_THAT(options, Contains(option)) << command.name;
  }
}

// An error comes before any server is asked.
TEST(EveryCommand, SpeaksJsonOfErrorsWithoutItsServer) {
  std::size_t with_server = 0;
  for (const Command& command : commands()) {
    if (!command.needs_a_server()) continue;
    ++with_server;
    const Ran ran = run_isoscope(command.name + " --json --no-such-option");
    EXPECT_EQ(ran.exit_code, 2) << command.name;
    const json answer = json::parse(ran.out, nullptr, false);
    ASSERT_TRUE(answer.is_object()) << ran.out;
    EXPECT_EQ(answer.value("tool", ""), "isoscope");
    EXPECT_THAT(answer["error"].value("what", ""), HasSubstr("--no-such-option"));
    EXPECT_FALSE(documented_verdicts(command.name).empty()) << command.name;
    EXPECT_TRUE(fs::exists(source_dir() + "/schemas/" + command.name + ".json")) << command.name;
  }
  EXPECT_GT(with_server, 0U);
}

TEST(EveryCommand, RunsTheExamplesOfItsHelp) {
  for (const Command& command : commands()) {
    if (command.needs_a_server()) continue;
    const Workshop workshop;
    for (const std::string& example : command.examples()) {
      const Ran ran = workshop.run(example);
      EXPECT_THAT(ran.exit_code, AnyOf(0, 1, 3)) << example << "\n" << ran.err;
      EXPECT_THAT(ran.err, Not(HasSubstr("error"))) << example;
    }
  }
}

TEST(EveryCommand, SpeaksJson) {
  const std::string version = run_isoscope("--version").out;
  for_each_example(
      [&](const Command& command, const Workshop& workshop, const std::string& example) {
        Ran ran = workshop.run(example + " --json");
        EXPECT_THAT(ran.exit_code, AnyOf(0, 1, 3)) << ran.err;
        EXPECT_EQ(ran.err, "");
        // A report goes where -o says; beside a document the answer goes to standard output.
        const std::size_t file = example.find(" -o ");
        if (file != std::string::npos && !command.makes_documents())
          ran.out = workshop.read(example.substr(file + 4));
        const json answer = json::parse(ran.out, nullptr, false);
        ASSERT_TRUE(answer.is_object()) << ran.out.substr(0, 200);
        EXPECT_EQ(answer.value("tool", ""), "isoscope");
        EXPECT_EQ("isoscope " + answer.value("version", "") + "\n", version);
        EXPECT_EQ(answer.value("command", ""), command.name.substr(0, command.name.find(' ')));
        EXPECT_THAT(documented_verdicts(command.name), Contains(answer.value("verdict", "")));
        ASSERT_TRUE(answer.contains("seconds") && answer["seconds"].is_number());
        EXPECT_GT(answer["seconds"].get<double>(), 0);
        EXPECT_TRUE(answer.contains("stats") && answer["stats"].is_object());
      });
}

TEST(EveryCommand, SaysNothingButItsResultWithQuiet) {
  for_each_example(
      [](const Command& command, const Workshop& workshop, const std::string& example) {
        const Ran loud = workshop.run(example);
        const Ran quiet = workshop.run(example + " --quiet");
        EXPECT_EQ(quiet.exit_code, loud.exit_code);
        EXPECT_EQ(quiet.err, "");
        EXPECT_EQ(quiet.out, command.makes_documents() ? loud.out : "");
      });
}

TEST(EveryCommand, WritesItsReportWhereItIsTold) {
  for_each_runnable([](const Command& command, const Workshop& workshop) {
    const std::string example = command.first_example();
    const Ran ran = workshop.run(example + " -o report.txt");
    EXPECT_THAT(ran.exit_code, AnyOf(0, 1, 3)) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(workshop.read("report.txt"), "");
    const Ran quiet = workshop.run(example + " --quiet -o quiet.txt");
    EXPECT_EQ(quiet.exit_code, ran.exit_code);
    EXPECT_NE(workshop.read("quiet.txt"), "");
    const Ran refused = workshop.run(example + " -o no-such-folder/report.txt");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("no-such-folder"));
  });
}

TEST(EveryCommand, RefusesAnUnknownOption) {
  for_each_runnable([](const Command& command, const Workshop& workshop) {
    const Ran ran = workshop.run(command.first_example() + " --no-such-option");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--no-such-option"));
    EXPECT_EQ(ran.out, "");
  });
}

TEST(EveryCommand, TellsAnErrorAsOneObjectUnderJson) {
  for_each_runnable([](const Command& command, const Workshop& workshop) {
    const Ran ran = workshop.run(command.first_example() + " --json --no-such-option");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--no-such-option"));
    const json answer = json::parse(ran.out, nullptr, false);
    ASSERT_TRUE(answer.is_object()) << ran.out;
    EXPECT_EQ(answer.value("tool", ""), "isoscope");
    ASSERT_TRUE(answer.contains("error")) << ran.out;
    for (const char* member : {"where", "what", "hint"})
      EXPECT_TRUE(answer["error"].contains(member)) << member;
    EXPECT_THAT(answer["error"].value("what", ""), HasSubstr("--no-such-option"));
    EXPECT_THAT(ran.out, ::testing::EndsWith("}\n"));
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  });
}

TEST(EveryCommand, RefusesInputThatIsMissing) {
  for_each_runnable([](const Command& command, const Workshop& workshop) {
    std::vector<std::string> lines;
    for (const std::string& example : command.plain_examples()) {
      for (std::size_t at = example.find(" examples/"); at != std::string::npos;
           at = example.find(" examples/", at + 1)) {
        const std::size_t end = std::min(example.find(' ', at + 1), example.size());
        lines.push_back(example.substr(0, at) + " no-such-file" + example.substr(end));
      }
    }
    if (long_options(command.help).contains("--spec"))
      lines.push_back(command.first_example() + " --spec no-such-file");
    const bool has_no_input = command.name.starts_with("generate ") || command.name == "demo";
    EXPECT_TRUE(!lines.empty() || has_no_input) << "no example has an input of examples/";
    for (const std::string& line : lines) {
      const Ran ran = workshop.run(line);
      EXPECT_EQ(ran.exit_code, 2) << line;
      EXPECT_THAT(ran.err, HasSubstr("no-such-file")) << line;
      EXPECT_EQ(ran.out, "") << line;
    }
  });
}

TEST(EveryCommand, StandsInTheReadme) {
  std::string rows;
  for (const DocRow& row : doc_table(slurp(source_dir() + "/README.md"), "command"))
    rows += row.at(0) + "\n";
  for (const Command& command : commands())
    EXPECT_THAT(rows, AnyOf(HasSubstr("`isoscope " + command.name + " "),
                            HasSubstr("`isoscope " + command.name + "`")));
}

TEST(EveryCommand, HasItsOptionsInTheDocuments) {
  std::size_t options = 0;
  for (const Command& command : commands()) {
    for (const std::string& option : long_options(command.help)) {
      ++options;
      EXPECT_TRUE(mentions_option(documents(), option)) << command.name << " " << option;
    }
  }
  EXPECT_GT(options, 150U);
}

TEST(EveryLevel, StandsInTheReadme) {
  const std::string readme = slurp(source_dir() + "/README.md");
  const json answer = json::parse(run_isoscope("levels --json").out);
  ASSERT_GE(answer["levels"].size(), 18U);
  for (const json& level : answer["levels"]) {
    const std::string name = level["level"];
    EXPECT_THAT(readme, HasSubstr("`" + name.substr(0, name.find('@')) + "`"));
  }
}

// The table of limits of docs/design.md: one more is refused, and says so.
TEST(Limits, AreThoseOfThePage) {
  const std::string page = slurp(source_dir() + "/docs/design.md");
  const auto calls = [](int count) {
    std::string program = "txn t() { write(x, 1) }\nsession s {\n";
    for (int i = 0; i < count; ++i) program += "  t()\n";
    return program + "}\n";
  };
  const std::string nested = std::string(201, '(') + "1" + std::string(201, ')');
  struct Limit {
    const char* row;  // as the page tells it
    std::string arguments;
    std::string input;
    const char* told;
  };
  const Limit limits[] = {
      {"calls of a program: `explore` | 256 |", "explore - --level si", calls(257), "257"},
      {"calls of a program: `run --store weak` | 1,024 |", "run - --store weak --level rc",
       calls(1025), "1024"},
      {"calls of a generated program | 5,000 |", "generate program voter --sessions 1 --txns 5001",
       "", "5,000"},
      {"of `synth` and `compare` | 40 |", "synth --allow si --forbid ser --txns 41", "", "40"},
      {"`--cycle`, `--path` of `audit` | 2 to 8 |", "audit - --level si --cycle 9", "", "8"},
      {"of blocks and parentheses of `.txn` | 200 |", "explore - --level si",
       "session s { { a := " + nested + " } }\n", "nest"},
      {"rounds of all loops of one transaction | about 100,000 |", "run - --store serial",
       "session s { { for i in 1..100100 { a := i } } }\n", "100000"},
  };
  for (const Limit& limit : limits) {
    EXPECT_THAT(page, HasSubstr(limit.row));
    const Ran ran = run_isoscope(limit.arguments, limit.input);
    EXPECT_EQ(ran.exit_code, 2) << limit.arguments;
    EXPECT_THAT(ran.err, HasSubstr(limit.told)) << limit.arguments;
    EXPECT_EQ(ran.out, "") << limit.arguments;
  }
  EXPECT_EQ(run_isoscope("explore - --level rc", calls(256)).exit_code, 0);
  EXPECT_EQ(run_isoscope("run - --store weak --level rc", calls(1024)).exit_code, 0);
}

}  // namespace
}  // namespace isoscope
