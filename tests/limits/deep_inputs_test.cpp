// No input overflows the stack: what nests too deeply is refused with its place, what is merely
// long is read. Every row runs with a stack of one megabyte, an eighth of the usual; under
// AddressSanitizer, whose frames are several times as large, with the usual one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "cli/run_isoscope.h"

namespace isoscope {
namespace {

constexpr int kDeep = 100'000;

std::string repeat(std::string_view text, int times = kDeep) {
  std::string out;
  out.reserve(text.size() * static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// The text of n numbered pieces.
std::string numbered(const std::function<std::string(int)>& piece, int times = kDeep) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece(i);
  return out;
}

struct DeepInput {
  std::string name;  // CamelCase: the language, then the shape
  std::string says;  // why it is refused, with a place and exit code 2; empty: it is read
  std::function<std::string()> content;
  std::string arguments;  // {0}: the path of the file
};

constexpr std::string_view kDepth = "nests deeper than ";
constexpr std::string_view kRow = "more than 2000 operators in a row";
constexpr std::string_view kRead;

constexpr std::string_view kRun = "run {0} --store serial";
constexpr std::string_view kCheck = "check {0} --level cc";
// A history that a level is checked on, so that the level is compiled and evaluated.
constexpr std::string_view kSpec = "check examples/long-fork.hist --spec {0} --level deep";

std::string in_txn(const std::string& body) {
  return "session s { {\n" + body + "\nwrite(x, v)\n} }\n";
}
std::string in_level(const std::string& axiom) { return "level deep over co\naxiom A: " + axiom; }

std::vector<DeepInput> program_rows() {
  const std::string run(kRun);
  return {
      {"TxnParentheses", std::string(kDepth),
       [] { return in_txn("v := " + repeat("(") + "1" + repeat(")")); }, run},
      {"TxnNegations", std::string(kDepth), [] { return in_txn("v := " + repeat("!") + "1"); },
       run},
      {"TxnSigns", std::string(kDepth), [] { return in_txn("v := " + repeat("- ") + "1"); }, run},
      {"TxnMinima", std::string(kDepth),
       [] { return in_txn("v := " + repeat("min(1, ") + "1" + repeat(")")); }, run},
      {"TxnIndices", "is a key",
       [] { return in_txn("v := read(" + repeat("x[") + "1" + repeat("]") + ")"); }, run},
      {"TxnIfs", std::string(kDepth), [] { return in_txn(repeat("if (1) {") + repeat("}")); }, run},
      {"TxnLoops", std::string(kDepth),
       [] { return in_txn(repeat("for i in 1..1 {") + repeat("}")); }, run},
      {"TxnElseIfs", std::string(kRead),
       [] { return in_txn("if (v == 1) { v := 2 }" + repeat(" else if (v == 2) { v := 3 }")); },
       run},
      {"TxnSums", std::string(kRow), [] { return in_txn("v := 1" + repeat(" + v")); }, run},
      {"TxnConjunctions", std::string(kRow), [] { return in_txn("v := 1" + repeat(" && v")); },
       run},
      {"TxnComparisons", std::string(kRow), [] { return in_txn("v := 1" + repeat(" == v")); }, run},
      {"TxnFinalDisjunctions", std::string(kRow),
       [] { return "session s { { v := 1 } }\nassert s[1].v" + repeat(" || s[1].v") + "\n"; }, run},
      {"TxnConstants", std::string(kRow), [] { return "init x = 1" + repeat(" + 1") + "\n"; }, run},
  };
}

std::vector<DeepInput> level_rows() {
  const std::string check(kSpec);
  return {
      {"LevelParentheses", std::string(kDepth),
       [] { return in_level(repeat("(") + "acyclic(co)" + repeat(")")); }, check},
      {"LevelNegations", std::string(kDepth),
       [] { return in_level(repeat("not ") + "acyclic(co)"); }, check},
      {"LevelQuantifiers", std::string(kDepth),
       [] { return in_level(repeat("forall t: txn. ") + "acyclic(co)"); }, check},
      {"LevelImplications", std::string(kDepth),
       [] { return in_level(repeat("acyclic(co) implies ") + "acyclic(co)"); }, check},
      {"LevelConjunctions", std::string(kDepth),
       [] { return in_level("acyclic(co)" + repeat(" and acyclic(co)")); }, check},
      {"LevelUnions", std::string(kDepth),
       [] { return in_level("acyclic(co" + repeat(" | so") + ")"); }, check},
      {"LevelClosures", std::string(kDepth),
       [] { return in_level("acyclic(co" + repeat("+") + ")"); }, check},
      {"LevelLets", std::string(kDepth),
       [] {
         return "level deep over co\nlet r0 = co\n" + numbered([](int i) {
                  return "let r" + std::to_string(i + 1) + " = r" + std::to_string(i) + " ; so\n";
                }) +
                "axiom A: acyclic(r" + std::to_string(kDeep) + ")\n";
       },
       check},
      {"LevelLetsThatDouble", "more than 10000 parts",
       [] {
         return "level deep over co\nlet r0 = co\n" +
                numbered(
                    [](int i) {
                      const std::string last = "r" + std::to_string(i);
                      return "let r" + std::to_string(i + 1) + " = " + last + " | " + last + "\n";
                    },
                    1000) +
                "axiom A: acyclic(r1000)\n";
       },
       check},
      {"LevelBases", "more than 500 levels",
       [] {
         return "level l0 over co\naxiom A: acyclic(co)\n" +
                numbered(
                    [](int i) {
                      return "level l" + std::to_string(i + 1) + " over co extends l" +
                             std::to_string(i) + "\n";
                    },
                    10'000) +
                "level deep over co extends l10000\n";
       },
       check},
  };
}

std::vector<DeepInput> history_rows() {
  const std::string check(kCheck);
  const std::string elle = check + " --format elle";
  return {
      {"EdnVectors", std::string(kDepth),
       [] { return "{:type :ok, :value " + repeat("[") + repeat("]") + "}\n"; }, elle},
      {"EdnMaps", std::string(kDepth),
       [] { return "{:type :ok, :value " + repeat("{:a ") + "1" + repeat("}") + "}\n"; }, elle},
      {"EdnTags", std::string(kDepth),
       [] { return "{:type :ok, :value " + repeat("#a ") + "[]}\n"; }, elle},
      {"EdnDiscards", std::string(kDepth),
       [] { return "{:type :ok, :value " + repeat("#_ ") + "[]}\n"; }, elle},
      {"EdnOpenVectors", std::string(kDepth), [] { return repeat("["); }, elle},
      {"ElleJson", std::string(kDepth),
       [] { return "{\"type\":\"ok\",\"value\":" + repeat("[") + repeat("]") + "}\n"; }, elle},
      {"DbcopArrays", "expected a transaction",
       [] { return "{\"data\":" + repeat("[") + repeat("]") + "}\n"; }, check + " --format dbcop"},
      {"JsonlArrays", "to be a string",
       [] {
         return "{\"format\":\"isoscope-history/1\"}\n{\"session\":\"s\",\"id\":\"T1\",\"ops\":" +
                repeat("[") + repeat("]") + "}\n";
       },
       check},
      {"JsonlUnknownObjects", "unknown member",
       [] {
         return "{\"format\":\"isoscope-history/1\"}\n{\"session\":\"s\",\"id\":\"T1\",\"more\":" +
                repeat("{\"a\":") + "1" + repeat("}") + ",\"ops\":[]}\n";
       },
       check},
      {"HistIndices", std::string(kRead), [] { return "s1: [w(x[1" + repeat(",1") + "],1)]\n"; },
       check},
      {"HistTransactions", std::string(kRead),
       [] {
         return "s1:" + numbered([](int i) { return " [w(x," + std::to_string(i + 1) + ")]"; }) +
                "\n";
       },
       check},
      // Each order of two versions is the reason for the next one: reasons within reasons.
      {"HistChainOfReasons", std::string(kRead),
       [] {
         constexpr int kKeys = 900;
         std::string b = "b: [w(x1,1)]";
         std::string rest;
         for (int i = 1; i <= kKeys; ++i) {
           const std::string k = std::to_string(i);
           b += " [w(x" + k + "," + std::to_string(kKeys + i) + ")]";
           if (i > 1)
             rest += "a" + k + ": [w(x" + k + "," + k + ")] [r(x" + std::to_string(i - 1) + "," +
                     std::to_string(i - 1) + ")]\n";
         }
         const std::string last = std::to_string(kKeys);
         return b + " [r(x" + last + "," + last + ")]\n" + rest;
       },
       "check {0} --level ser"},
      // A chain through all transactions, for whoever walks along it.
      {"HistChainOfReads", std::string(kRead),
       [] {
         return numbered([](int i) {
           const std::string k = std::to_string(i);
           return "s" + k + ": [r(k" + k + "," + (i == 0 ? "0" : k) + ") w(k" +
                  std::to_string(i + 1) + "," + std::to_string(i + 1) + ")]\n";
         });
       },
       "check {0} --level rc,ra,cc,pc,psi,si,ser"},
      {"HistCycleOfAll", std::string(kRead),
       [] {
         return numbered([](int i) {
           const std::string k = std::to_string(i);
           return "s" + k + ": [r(k" + k + "," + (i == 0 ? std::to_string(kDeep) : k) + ") w(k" +
                  std::to_string((i + 1) % kDeep) + "," + std::to_string(i + 1) + ")]\n";
         });
       },
       "check {0} --level rc,ra,cc,pc,psi,si,ser"},
  };
}

std::vector<DeepInput> all_rows() {
  std::vector<DeepInput> all;
  for (const auto& table : {program_rows(), level_rows(), history_rows()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

class DeepInputs : public testing::TestWithParam<DeepInput> {};

TEST_P(DeepInputs, DoNotOverflowTheStack) {
  const DeepInput& row = GetParam();
  const TempFile file(".input");
  std::ofstream(file.path(), std::ios::binary) << row.content();
  std::string arguments = row.arguments;
  arguments.replace(arguments.find("{0}"), 3, file.path());
#ifdef __SANITIZE_ADDRESS__
  const std::string stack = "8192";
#else
  const std::string stack = "1024";
#endif
  const Ran ran = run_shell("cd " + source_dir() + "; ulimit -s " + stack + "; " +
                            isoscope_binary() + " " + arguments + " --timeout 60");
  if (row.says.empty()) {
    EXPECT_THAT(ran.exit_code, testing::AnyOf(0, 1)) << ran.err.substr(0, 1000);
  } else {
    EXPECT_EQ(ran.exit_code, 2) << ran.out.substr(0, 1000) << ran.err.substr(0, 1000);
    EXPECT_THAT(ran.err, testing::ContainsRegex(":[0-9]+:[0-9]+: error: .*" + row.says));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, DeepInputs, testing::ValuesIn(all_rows()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace isoscope
