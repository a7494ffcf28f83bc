#include "support/printable.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace isoscope {
namespace {

TEST(Printable, LeavesReadableTextAlone) {
  for (const char* text :
       {"", "acct", "cart 7", "stock[1,2].qty", "größe → 日本 🙂", "a\\n", "\"'"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, EscapesWhatATerminalObeysOrHides) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("line\nnext\r\tend"), "line\\nnext\\r\\tend");
  EXPECT_EQ(printable("\a\x7f"), "\\x07\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "txt.exe"),
            "\\u202etxt.exe");
  EXPECT_EQ(printable("\xe2\x81\xa6\xe2\x80\xa8"), "\\u2066\\u2028");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
}

TEST(Printable, KeepsTheLinesAndColoursOfReports) {
  EXPECT_EQ(printable_lines("a\n\tb\r\n"), "a\n\tb\\r\n");
  EXPECT_EQ(printable_lines("\x1b[31;1mred\x1b[0m", true), "\x1b[31;1mred\x1b[0m");
  EXPECT_EQ(printable_lines("\x1b[31;1mred\x1b[0m"), "\\x1b[31;1mred\\x1b[0m");
  EXPECT_EQ(printable_lines("\x1b[2J\x1b]0;title\a", true), "\\x1b[2J\\x1b]0;title\\x07");
}

TEST(Printable, KeepsTheMeaningOfJson) {
  EXPECT_EQ(printable_json("{\"k\xc2\x85\":\"\x7f\xe2\x80\xae\"}\n"),
            "{\"k\\u0085\":\"\\u007f\\u202e\"}\n");
}

TEST(Error, ShowsNoControlCharacters) {
  const Error error{.where = {1, 4},
                    .what = "unknown word 'a\x1b[2J'",
                    .hint = "did you mean\n'b'?",
                    .file = "evil\nfile"};
  EXPECT_EQ(render(error.quoting("x\x1by z\tq\n")),
            "evil\\nfile:1:4: error: unknown word 'a\\x1b[2J'\n"
            "  x\\x1by z q\n"
            "        ^ did you mean\\n'b'?");
}

TEST(Error, PutsItsCaretBelowTheCharacterThatItMeans) {
  const Error error{.where = {1, 6}, .what = "here"};
  EXPECT_EQ(render(error.quoting("äöx")), "line 1:6: error: here\n  äöx\n     ^");
}

}  // namespace
}  // namespace isoscope
