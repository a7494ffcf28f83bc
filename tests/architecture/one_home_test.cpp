// One idea has one home: what the sources must not say twice, and how large a function may be.
//
// The sources are laid out by clang-format, so that indentation tells what belongs together: a
// function ends with the brace that stands as far left as its first line, a switch with the first
// line that stands further left than its labels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "spec/levels.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string name;  // "check/check.cpp"
  std::vector<std::string> lines;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> found;
    const fs::path src = fs::path(source_dir()) / "src";
    for (const auto& entry : fs::recursive_directory_iterator(src)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      Source& source = found.emplace_back();
      source.name = fs::relative(entry.path(), src).string();
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) source.lines.push_back(line);
    }
    std::ranges::sort(found, {}, &Source::name);
    return found;
  }();
  return all;
}

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank(const std::string& line) { return indent_of(line) == line.size(); }

// The level names that a line has in quotation marks.
std::set<std::string> quoted_levels(const std::string& line) {
  static const std::set<std::string> known = [] {
    std::set<std::string> names;
    for (const auto& level : LevelSet::built_in().all()) names.insert(level->name);
    return names;
  }();
  static const std::regex quoted("\"([a-z-]+)\"");
  std::set<std::string> found;
  for (std::sregex_iterator it(line.begin(), line.end(), quoted), end; it != end; ++it) {
    if (known.contains((*it)[1])) found.insert((*it)[1]);
  }
  return found;
}

TEST(OneHome, OfTheNamesOfLevels) {
  // Where names get their meaning: what a forced run is asked, what people call the levels, those
  // of servers, and the logics and rules of the engines.
  const std::set<std::string> homes = {"force/recorded_run.cpp", "spec/levels.cpp",
                                       "sql/server/level.cpp", "verdict/logic.cpp"};
  constexpr std::size_t kLines = 6;
  constexpr std::size_t kFewest = 4;  // names that make a list
  std::set<std::string> lists;
  for (const Source& source : sources()) {
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      std::set<std::string> near;
      for (std::size_t j = i; j < std::min(i + kLines, source.lines.size()); ++j)
        near.merge(quoted_levels(source.lines[j]));
      if (near.size() >= kFewest) lists.insert(source.name);
    }
  }
  EXPECT_EQ(lists, homes) << "ask check/level_table.h instead of listing levels";
}

// Those of servers, as a program calls them or as SQL does. Besides: what a forced run is asked,
// what people call definitions, and definitions that are a server's.
TEST(OneHome, OfTheLevelsOfServers) {
  const std::set<std::string> homes = {"force/recorded_run.cpp", "spec/levels.cpp",
                                       "sql/server/level.cpp", "verdict/logic.cpp"};
  const std::regex quoted(
      "\"((pg|mysql)-(rc|rr|ser)|read[ _-](un)?committed|repeatable[ _-]read|serializable)\"",
      std::regex::icase);
  constexpr std::size_t kLines = 6;
  std::set<std::string> lists;
  for (const Source& source : sources()) {
    std::map<std::string, std::size_t> seen;  // with the line where it was last
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string code = source.lines[i].substr(0, source.lines[i].find("//"));
      for (std::sregex_iterator it(code.begin(), code.end(), quoted), end; it != end; ++it)
        seen[(*it)[1]] = i;
      if (std::ranges::count_if(seen, [&](const auto& s) { return s.second + kLines > i; }) > 1)
        lists.insert(source.name);
    }
  }
  EXPECT_EQ(lists, homes) << "ask sql/server/level.h instead of listing levels";
}

TEST(OneHome, OfExitCodes) {
  std::set<std::string> users;
  for (const Source& source : sources()) {
    for (const std::string& line : source.lines) {
      if (line.find("kInteresting") != std::string::npos) users.insert(source.name);
    }
  }
  EXPECT_THAT(users, ::testing::ElementsAre("cli/exit_code.cpp", "cli/exit_code.h"));
}

// Every engine answers with an Outcome (verdict/answer.h). A type that leaves something unknown is
// an Outcome again, unless it says more than good, found or unknown, or speaks of another thing.
TEST(OneHome, OfOutcomes) {
  const std::regex type("^ *enum class (\\w+)[^;]*\\{.*");
  const std::regex unknown("\\b(Unknown|Undecided|Undetermined)\\b");
  std::set<std::string> types;
  for (const Source& source : sources()) {
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      std::smatch found;
      if (!std::regex_match(source.lines[i], found, type)) continue;
      const std::string name = found[1].str();
      std::string body;
      for (std::size_t j = i; j < source.lines.size(); ++j) {
        body += source.lines[j].substr(0, source.lines[j].find("//")) + '\n';
        if (source.lines[j].find("};") != std::string::npos) break;
      }
      if (name.ends_with("Outcome") || name.ends_with("Verdict") ||
          std::regex_search(body, unknown))
        types.insert(fmt::format("{}: {}", source.name, name));
    }
  }
  const std::set<std::string> judged = {
      "api/include/isoscope/isoscope.h: Outcome",  // stands alone
      "audit/audit.h: AuditOutcome",               // none, or proved
      "audit/claims.h: ClaimOutcome",              // broken by one call
      "audit/replay.h: Label",                     // of an anomaly: by whom it is seen
      "audit/search.cpp: Fate",                    // impossible, or without a run
      "force/experiment.h: Kind",                  // what the serial orders say of a run
      "force/forcing.h: ForceVerdict",             // diverged
      "force/recorded_run.h: Kind",                // what its history says of a run
      "formats/text_kind.h: TextKind",             // of a file
      "history/history.h: TxnStatus",              // of a transaction
      "predict/predict.cpp: Fate",                 // of a candidate
      "record/commit_order.cpp: Relation",         // of two commits
      "sat/solver.h: SatResult",                   // of clauses
      "smt/solver.h: SmtResult",                   // of formulas
      "synth/compare.h: ImplicationOutcome",       // only within the scope
      "synth/compare.h: LevelRelation",            // of two levels
      "synth/proof.h: ProofOutcome",               // not proved
      "verdict/answer.h: Outcome",
  };
  EXPECT_EQ(types, judged);
}

// A `default:` beside a case.
struct DefaultLabel {
  std::string place;  // "check/check.cpp:17"
  std::string file;
  std::string after;  // the line after it
};

struct CaseLabels {
  std::size_t count = 0;
  std::vector<DefaultLabel> defaults;
};

// The cases whose lines match, and the defaults of their switches.
CaseLabels labels_of(const std::regex& label) {
  CaseLabels labels;
  for (const Source& source : sources()) {
    std::set<std::size_t> met;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      if (!std::regex_match(source.lines[i], label)) continue;
      ++labels.count;
      const std::size_t indent = indent_of(source.lines[i]);
      for (std::size_t j = i + 1; j + 1 < source.lines.size(); ++j) {
        if (is_blank(source.lines[j])) continue;
        if (indent_of(source.lines[j]) < indent) break;
        if (indent_of(source.lines[j]) == indent && source.lines[j].find("default:") == indent &&
            met.insert(j).second)
          labels.defaults.push_back({fmt::format("{}:{}", source.name, j + 1), source.name,
                                     source.lines[j] + source.lines[j + 1]});
      }
    }
  }
  return labels;
}

// Whoever adds a level, an outcome, a format, an anomaly or a kind of edge hears from the compiler
// where it is missing.
TEST(OneHome, LeavesNoLevelOutcomeFormatOrAnomalyToADefault) {
  const CaseLabels labels = labels_of(
      std::regex("^ *case "
                 "(\\w+::)*(\\w*Outcome|ForceVerdict|Logic|WeakLevel|StrongLevel|StrongRule|"
                 "PgLevel|ServerLevel|Format|Framework|Anomaly|EdgeKind)::\\w+:.*"));
  for (const DefaultLabel& label : labels.defaults) ADD_FAILURE() << label.place;
  EXPECT_GT(labels.count, 100U);
}

// Whoever adds a word to the language of levels hears from the compiler where it would mean another
// one. What is left to a default stops the program, or is in a file that does less with a word that
// it does not know: it refuses, asks another part, or keeps the word as it is.
TEST(OneHome, LetsNoWordOfTheLevelLanguageMeanAnother) {
  const std::map<std::string, std::string> fallbacks = {
      {"check/ground/grounder.cpp", "atom(): a table of the universe, which stops"},
      {"check/ground/join.cpp", "revise(): the same; revise_key(): narrows nothing"},
      {"check/ground/support.cpp", "stands on the whole relation"},
      {"explore/level_rules.cpp", "refuses the level"},
      {"relational/bounds.cpp", "within no order; leaves ask the engine, which stops"},
      {"relational/relation_table.cpp", "simplifies nothing"},
      {"relational/translator.h", "asks the engine, which stops"},
      {"spec/formula_values.cpp", "offending_pairs(), which stops"},
      {"spec/rule.cpp", "is the conclusion"},
      {"synth/acyclic.h", "contains no identity, has no part"},
      {"synth/grounder.cpp", "keeps(): remembers the cells"},
      {"synth/proof_horn.cpp", "is no rule about vis"},
      {"synth/proof_translate.cpp", "is a path of one step"}};
  const CaseLabels labels =
      labels_of(std::regex("^ *case (\\w+::)*(RelationOp|FormulaOp)::\\w+:.*"));
  std::set<std::string> met;
  for (const DefaultLabel& label : labels.defaults) {
    if (label.after.find("ISO_ASSERT(") != std::string::npos) continue;
    met.insert(label.file);
    EXPECT_TRUE(fallbacks.contains(label.file)) << label.place;
  }
  for (const auto& [file, why] : fallbacks) EXPECT_TRUE(met.contains(file)) << file << ": " << why;
  EXPECT_GT(labels.count, 300U);
}

struct FunctionSize {
  std::string name;  // "check/check.cpp: Verdict Checker::decide"
  std::size_t lines = 0;
  std::size_t depth = 0;  // of statements in statements
};

// May a function's definition begin with this line?
bool may_open_function(const std::string& line) {
  static const std::regex others(
      "^ *(namespace|struct|class|enum|union|extern|if|for|while|switch|do|else|return|case|auto|"
      "const auto|constexpr|inline constexpr|static const|\\}|#|//|.*\\[[&=\\]]).*");
  return !is_blank(line) && indent_of(line) <= 2 && line.find('(') != std::string::npos &&
         !std::regex_match(line, others);
}

// The line with its opening brace; nothing if it is no definition.
std::optional<std::size_t> opening_brace(const Source& source, std::size_t first) {
  const std::size_t indent = indent_of(source.lines[first]);
  for (std::size_t i = first; i < source.lines.size(); ++i) {
    const std::string& line = source.lines[i];
    if (is_blank(line) || line.ends_with(";") || (i != first && indent_of(line) <= indent))
      return std::nullopt;
    if (line.ends_with("{")) return i;
  }
  return std::nullopt;
}

std::size_t depth_between(const Source& source, std::size_t begin, std::size_t end) {
  static const std::regex statement("^ *(\\} else )?(if|for|while|switch|do|else)\\b.*");
  std::vector<std::size_t> open;  // indents of the statements around
  std::size_t deepest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string& line = source.lines[i];
    if (is_blank(line)) continue;
    while (!open.empty() && indent_of(line) <= open.back()) open.pop_back();
    if (std::regex_match(line, statement)) open.push_back(indent_of(line));
    deepest = std::max(deepest, open.size());
  }
  return deepest;
}

const std::vector<FunctionSize>& functions() {
  static const std::vector<FunctionSize> all = [] {
    std::vector<FunctionSize> found;
    for (const Source& source : sources()) {
      for (std::size_t i = 0; i < source.lines.size(); ++i) {
        const std::string& line = source.lines[i];
        if (!may_open_function(line)) continue;
        const auto brace = opening_brace(source, i);
        if (!brace) continue;
        const std::size_t indent = indent_of(line);
        const std::string close = std::string(indent, ' ') + "}";
        std::size_t end = *brace + 1;
        while (end < source.lines.size() && source.lines[end] != close) ++end;
        if (end == source.lines.size()) continue;
        found.push_back(
            {fmt::format("{}: {}", source.name, line.substr(indent, line.find('(') - indent)),
             end - i + 1, depth_between(source, *brace + 1, end)});
      }
    }
    return found;
  }();
  return all;
}

TEST(Functions, HaveAtMostEightyLines) {
  ASSERT_GT(functions().size(), 3'000U);
  for (const FunctionSize& function : functions()) EXPECT_LE(function.lines, 80U) << function.name;
}

TEST(Functions, NestAtMostFiveStatements) {
  for (const FunctionSize& function : functions()) EXPECT_LE(function.depth, 5U) << function.name;
}

}  // namespace
}  // namespace isoscope
