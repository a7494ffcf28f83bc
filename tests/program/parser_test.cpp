// Errors in the text of a program: where they are, what they say, what helps.
#include <gmock/gmock.h>

#include "program/run_of.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;

struct BadText {
  std::string text;
  Place where;
  std::string what;
  std::string hint = "";
};

void expect_errors(const std::vector<BadText>& table) {
  for (const BadText& bad : table) {
    SCOPED_TRACE(bad.text);
    const auto program = parse_program(bad.text);
    if (program) {
      ADD_FAILURE() << "is accepted";
      continue;
    }
    const Error& error = program.error();
    EXPECT_EQ(error.where.line, bad.where.line) << error.what;
    EXPECT_EQ(error.where.column, bad.where.column) << error.what;
    EXPECT_THAT(error.what, HasSubstr(bad.what));
    EXPECT_THAT(error.hint, HasSubstr(bad.hint));
  }
}

TEST(ProgramLexer, RejectsSignsOfOtherLanguages) {
  expect_errors({
      {"// bank", {1, 1}, "'//'", "'#'"},
      {"txn f() { x += 1 }", {1, 13}, "'+='", "x := x + 1"},
      {"txn f() { x : 1 }", {1, 13}, "':'", "x := 1"},
      {"txn f() { x := 1 <> 2 }", {1, 18}, "'<>'", "!="},
      {"txn f() {\n  x := \"a\" }", {2, 8}, "'\"'"},
      {"init x = 1\x01", {1, 11}, "0x01", "ASCII"},
      {"init x\xc3\xa4 = 1", {1, 7}, "0xc3"},
      {"init 1x = 1", {1, 6}, "cannot begin with a digit"},
  });
}

TEST(ProgramLexer, RejectsNumbersOfMoreThan64Bits) {
  expect_errors({
      {"init x = 9223372036854775808", {1, 10}, "does not fit", "9223372036854775807"},
      {"init x = 18446744073709551616", {1, 10}, "does not fit"},
      {"init x = -9223372036854775809", {1, 11}, "does not fit"},
      {"init x = - (9223372036854775808)", {1, 13}, "does not fit"},
  });
  const Program program = program_of("init x = -9223372036854775808\ninit y = 9223372036854775807");
  EXPECT_EQ(program.keys().initial(ProgramKey{0}), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(program.keys().initial(ProgramKey{1}), std::numeric_limits<std::int64_t>::max());
}

TEST(ProgramParser, SaysWhatItExpects) {
  expect_errors({
      {"withdraw(60)", {1, 1}, "expected 'init', 'txn', 'session' or 'assert'", "transaction"},
      {"sesion a { }", {1, 1}, "found 'sesion'", "did you mean 'session'?"},
      {"init x", {1, 7}, "expected '='", "init x = 1"},
      {"init x = ", {1, 10}, "expected an expression, found the end of the text"},
      {"init x = y", {1, 10}, "'y' is not a constant"},
      {"init x[y] = 1", {1, 8}, "'y' is not a constant"},
      {"init if = 1", {1, 6}, "expected a key", "word of the language"},
      {"txn f { }", {1, 7}, "expected '(' after the name"},
      {"txn f(1) { }", {1, 7}, "expected a parameter"},
      {"txn f(a, min) { }", {1, 10}, "expected a parameter", "take another name"},
      {"txn f() @ { }", {1, 9}, "expected a level", "@ser"},
      {"txn f() write(x, 1)", {1, 9}, "expected '{'"},
      {"txn f() {\n  x := 1\n", {3, 1}, "expected '}'", "closes the '{' at 1:9"},
      {"session a { f }", {1, 15}, "expected '('", "f()"},
      {"session a { x := read(y) }", {1, 15}, "expected '('", "in a block"},
      {"session a { write(x, 1) }", {1, 13}, "expected a call, a block or '}'", "in a block"},
      {"session a { f(b) }", {1, 15}, "'b' is not a constant"},
      {"session a {", {1, 12}, "expected a call, a block or '}'"},
  });
}

TEST(ProgramParser, SaysWhatIsWrongWithAStatement) {
  const auto in_block = [](const std::string& statement) { return "session s { {\n" + statement; };
  expect_errors({
      {in_block("x = 1 } }"), {2, 3}, "expected ':=' after 'x'", "x := 1"},
      {in_block("x[1] := 1 } }"), {2, 2}, "expected ':='", "write(x[1], 1)"},
      {in_block("f(1) } }"), {2, 2}, "expected ':='", "only sessions call"},
      {in_block("while (1) { } } }"), {2, 11}, "'at most'", "at most 9"},
      {in_block("while 1 { } } }"), {2, 7}, "expected ':='", "while (a < 3) at most 9"},
      {in_block("lock x } }"), {2, 6}, "expected ':=' after 'lock'", "lock(x)"},
      {in_block("lock(x, 1) } }"), {2, 7}, "expected ')' after the key", "lock(x)"},
      {in_block("lock() } }"), {2, 6}, "expected a key", ""},
      {in_block("lock_shared(1) } }"), {2, 13}, "expected a key", ""},
      {in_block("stmt lock(x) } }"), {2, 6}, "expected ':='", "stmt { … }"},
      {in_block("stmt { if (1) { abort } } } }"), {2, 17}, "cannot end the transaction", "behind"},
      {in_block("stmt { stmt { } } } }"), {2, 8}, "no statements inside", "the inner 'stmt'"},
      {in_block("stmt { a := read(x)"), {2, 20}, "expected '}'", "closes the '{' at 2:6"},
      {in_block("break } }"), {2, 7}, "expected ':='", "leaves a loop"},
      {in_block("retry } }"), {2, 7}, "expected ':='", "withdraw(60) retry 2"},
      {"session a { f() retry }", {1, 23}, "how often", "retry 2"},
      {"session a { f() retry 2 @si }", {1, 26}, "the end of the call", "the level comes first"},
      {"session a { f()\nretry 2 }", {2, 7}, "expected '('", "on the line of its call"},
      {"session a { { a := 1 } retry 2 }", {1, 24}, "only a call", "give the block a name"},
      {"txn f() { }\nsession a { f() retry 101 }", {2, 23}, "retried 101 times", "at most 100"},
      {"txn f() { }\nsession a { f() retry -1 }", {2, 24}, "retried -1 times", "at least 0"},
      {"txn f() { }\nsession a { f() retry(2) }", {2, 17}, "unknown", "without parentheses"},
      {in_block("a := final(x) } }"), {2, 6}, "'final' cannot stand here", "outside"},
      {"init x = 1\nassert final(y) == 1", {2, 14}, "has the key 'y'", "'x'"},
      {"init x = 1\nassert final(x[a]) == 1", {2, 16}, "'a' is not a constant", ""},
      {"init x = 1\nassert final x == 1", {2, 8}, "'final' alone", "final(final)"},
      {"init x = 1\nassert x == 1", {2, 8}, "'x' alone says nothing", "final(x) is the value"},
      {in_block("a := true } }"), {2, 6}, "there is no 'true'", "write 1"},
      {in_block("if (false) { } } }"), {2, 5}, "there is no 'false'", "write 0"},
      {"init x[1..] = 3", {1, 11}, "expected an expression", ""},
      {"init x[3..1] = 3", {1, 8}, "the range 3..1 is empty", "from small to large"},
      {"init x[0..9, 0..999999] = 3", {1, 14}, "at most 1000000 keys", ""},
      {"init x[1..3] = 3\ninit x[2] = 1", {2, 6}, "key x[2] has an initial value already", ""},
      {"session w[1] { }", {1, 12}, "expected '..'", "session w[1..5]"},
      {"session w[5..1] { }", {1, 10}, "5..1 are no numbers of sessions", "from small to large"},
      {"session w[1..2] { f(selv) }", {1, 21}, "'selv' is not a constant", ""},
      {"session w[1..2] { { self := 1 } }", {1, 21}, "cannot be assigned", ""},
      {"session w[1..2] { }\nsession w2 { }", {2, 9}, "session 'w2' is there already", ""},
      {in_block("read(x) } }"), {2, 1}, "expected a statement", "v := read(x)"},
      {in_block("a := read(x) + 1 } }"),
       {2, 14},
       "expected the end of the statement",
       "of its own"},
      {in_block("a := 1 + read(x) } }"), {2, 10}, "a read cannot stand inside", "v := read(x)"},
      {in_block("a := 1 b := 2 } }"), {2, 8}, "expected the end of the statement, found 'b'"},
      {in_block("a := 1 and 2 } }"), {2, 8}, "expected the end", "'&&'"},
      {in_block("a := 1 +\n 2 } }"), {2, 9}, "found the end of the line", "inside parentheses"},
      {in_block("write(x) } }"), {2, 8}, "expected ','", "write(x, 1)"},
      {in_block("if (1) { }; else { } } }"), {2, 13}, "expected a statement", "without ';'"},
      {in_block("if 1 { } } }"), {2, 4}, "expected '(' after 'if'"},
      {in_block("if (1 = 1) { } } }"), {2, 7}, "expected ')'", "'=='"},
      {in_block("for i in 1 { } } }"), {2, 12}, "expected '..'", "1..3"},
      {in_block("for 1 in 1..2 { } } }"), {2, 5}, "expected a local that counts"},
      {in_block("a := min() } }"), {2, 10}, "expected an expression"},
      {in_block("a := (1 + 2 } }"), {2, 13}, "expected ')'", "closes the '(' at 2:6"},
      {in_block("a := f(1) } }"), {2, 6}, "'f' is not a function"},
      {in_block("a := committed(s[1]) } }"), {2, 6}, "'committed' cannot stand here"},
      {in_block("a := s[1].b } }"), {2, 6}, "cannot see the locals of another"},
      {in_block("a := x[1] } }"), {2, 6}, "'x[…]' is a key: use read(x[…])"},
  });
}

TEST(ProgramParser, LimitsNestingInsteadOfExhaustingTheStack) {
  const std::string deep(100'000, '(');
  expect_errors({{"init x = " + deep, {1, 210}, "nests deeper than 200"}});
  std::string spaced;
  for (int i = 0; i < 1000; ++i) spaced += "! ";
  expect_errors({{"init x = " + spaced + "1", {1, 410}, "nests deeper than 200"}});
  std::string blocks;
  for (int i = 0; i < 1000; ++i) blocks += "if (1) {\n";
  const auto nested = parse_program("session s { {\n" + blocks);
  ASSERT_FALSE(nested.ok());
  EXPECT_THAT(nested.error().what, HasSubstr("nests deeper"));
  std::string row = "init x = 1";
  for (int i = 0; i < 100'000; ++i) row += "+1";
  const auto long_row = parse_program(row);
  ASSERT_FALSE(long_row.ok());
  EXPECT_THAT(long_row.error().what, HasSubstr("operators in a row"));
}

TEST(ProgramParser, EndsStatementsAtNewlinesSemicolonsAndBraces) {
  const SerialRun run = run_of(
      "a := 1; b := (a\n + 1\n)\n\n;; if (a) { c := 3 }\n\n else { c := 4 } d := min(1,\n2)\n"
      "if (0) { }\nelse if (b == 2) { e := 5 } else { e := 6 }; write(x, a + b + c + d + e)");
  EXPECT_EQ(run.store.at("x"), 1 + 2 + 3 + 1 + 5);
}

TEST(ProgramParser, AcceptsCarriageReturnsAndAMissingNewline) {
  const Program program = program_of(
      "init x = 5\r\ntxn f(a)\r\n{\r\n  b := read(x)\r\n  write(x, a + b)\r\n}\r\n"
      "session s\r\n{\r\n  f(2)\r\n}\r\nassert s[1].b == 5");
  const SerialRun run = run_serially(program);
  EXPECT_EQ(run.store.at("x"), 7);
  EXPECT_FALSE(run.failed);
}

TEST(ProgramParser, ReadsLevels) {
  const Program program = program_of(
      "txn f() @si@vis { }\n"
      "session s { f() f() @ update-ser; @rc { } \n @ra+nlu@co { }\n { } }");
  std::vector<std::string> levels;
  for (const Call& call : program.outline().calls) levels.push_back(call.level);
  EXPECT_THAT(levels, ::testing::ElementsAre("si@vis", "update-ser", "rc", "ra+nlu@co", ""));
  const auto& calls = program.outline().calls.entries();
  EXPECT_EQ(calls[0].level_place, (Place{1, 10}));
  EXPECT_EQ(calls[1].level_place, (Place{2, 23}));
  EXPECT_EQ(calls[1].place, (Place{2, 17}));
}

TEST(ProgramParser, QuotesTheLine) {
  const auto program = parse_program("init x = 1\n  txn f() { a = 1 }\n");
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(render(program.error().in("p.txn")),
              HasSubstr("p.txn:2:15: error: expected ':=' after 'a', found '='\n"
                        "    txn f() { a = 1 }\n"
                        "                ^ an assignment is written x := 1"));
}

}  // namespace
}  // namespace isoscope
