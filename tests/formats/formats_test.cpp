#include "formats/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "formats/bad_text.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Formats, AreFoundByName) {
  for (Format format : all_formats()) {
    const auto found = find_format(name_of(format));
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, format);
    EXPECT_FALSE(summary_of(format).empty());
  }
  EXPECT_EQ(all_formats().size(), 9U);
  const auto slip = find_format("plum");
  ASSERT_FALSE(slip.ok());
  EXPECT_EQ(render(slip.error()), "error: unknown format 'plum'\n  did you mean 'plume'?");
}

TEST(Formats, AreRecognisedByTheirFirstLine) {
  const std::pair<const char*, Format> kHeads[] = {
      {"\n\n# a comment", Format::Hist},
      {"init x=0", Format::Hist},
      {"s1 :\n[]", Format::Hist},
      {"r: [w(x,1)]", Format::Hist},
      {"{ \"format\" : \"isoscope-history/1\"}", Format::Jsonl},
      {"{\"session\":\"s\"}", Format::Jsonl},
      {"r(1,2,3,4)", Format::Plume},
      {"w 1 2", Format::AwditTest},
      {"=====\nw 1 2", Format::AwditTest},
      {"[[{\"events\":[]}]]", Format::Dbcop},
      {"{\"info\":\"x\"}", Format::Dbcop},
      {"{:type :ok}", Format::Elle},
      {"[{:type :ok}]", Format::Elle},
      {"{\"type\":\"ok\"}", Format::Elle},
      {"[ {\"index\":1}]", Format::Elle},
      {"; comment", Format::Elle},
      {"#jepsen.history.Op{:type :ok}", Format::Elle},
      {"CONTAINS[1] in Set[2]", Format::IsoPredict},
  };
  for (const auto& [head, format] : kHeads) EXPECT_EQ(recognise(head), format) << head;
  for (const char* head : {"", " \n", "hello world", "7", "<html>", "{}", "\x01\x02"})
    EXPECT_EQ(recognise(head), std::nullopt) << head;
}

class File {
 public:
  explicit File(std::string_view text) { std::ofstream(path_, std::ios::binary) << text; }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  // Tests run side by side, each in a process of its own.
  std::string path_ = ::testing::TempDir() + "isoscope-formats-" + std::to_string(::getpid());
};

TEST(Formats, NameFilePlaceAndLineInErrors) {
  const File file("w(1,5,0,0)\nw(1,x,0,0)\n");
  const auto h = read_history(file.path());
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(render(h.error()),
            file.path() +
                ":2:5: error: expected an unsigned 64-bit value instead of 'x'\n"
                "  w(1,x,0,0)\n"
                "      ^ a line is r(key,value,session,txn) or w(key,value,session,txn)");
}

// The line is long gone when the writers of its value are compared.
TEST(Formats, QuoteTheLineOfAnErrorFoundAtTheEnd) {
  const File file("w(1,5,0,0)\nr(1,5,2,2)\nw(1,5,1,1)\n");
  EXPECT_THAT(render(read_history(file.path()).error()), HasSubstr("\n  r(1,5,2,2)\n  ^ make"));
}

TEST(Formats, RefuseEmptyAndForeignFiles) {
  for (const char* nothing : {"", " \n\n"}) {
    const File file(nothing);
    for (Format format : all_formats())
      EXPECT_FALSE(parse_history(nothing, format).ok()) << name_of(format);
    EXPECT_THAT(render(read_history(file.path()).error()), HasSubstr("the input is empty"));
    EXPECT_THAT(render(read_history(file.path(), Format::Plume).error()), HasSubstr("is empty"));
  }
  const File foreign("<html>");
  EXPECT_THAT(render(read_history(foreign.path()).error()),
              HasSubstr("known: hist, jsonl, plume, awdit-test, dbcop"));
  EXPECT_THAT(render(read_history(foreign.path(), Format::Cobra).error()),
              HasSubstr("cobra is read from a directory"));
  EXPECT_THAT(render(read_history("/does/not/exist").error()), HasSubstr("cannot open"));
}

TEST(Formats, ReadWholeFilesAndLines) {
  for (const char* text :
       {"s1: [w(x,1)]\n", "w(1,5,0,0)\n", "[[{\"events\":[],\"committed\":true}]]"}) {
    const File file(text);
    const auto h = read_history(file.path());
    ASSERT_TRUE(h.ok()) << render(h.error());
    EXPECT_EQ(h->num_txns(), 2U);
  }
}

// The obstacle, in the words of the format that meets it.
struct Obstacle {
  const char* hist;
  Format format;
  const char* what;
  const char* others;
};

TEST(Formats, SayWhatTheyCannotHold) {
  const Obstacle kObstacles[] = {
      {"s: [w(x,1)]", Format::Plume, "its keys are unsigned numbers of 64 bits, unlike 'x'",
       "hist, jsonl, elle, isopredict"},
      {"s: [w(\"1\",-2)]", Format::Plume, "T1 (line 1) writes -2", "hist, jsonl, elle, isopredict"},
      {"s: [w(\"1\",\"a\")]", Format::Dbcop, "T1 (line 1) writes a",
       "hist, jsonl, elle, isopredict"},
      {"s: [d(\"1\")]", Format::Plume, "T1 (line 1) writes nil", "hist, jsonl, elle"},
      {"s: [d(x)]", Format::IsoPredict, "deletes 'x', which is no element of a set",
       "hist, jsonl, elle"},
      {"\ns: []@si", Format::Elle, "no place for levels, and T1 (line 2) runs at si",
       "hist, jsonl"},
      {"s: []", Format::Plume, "T1 (line 1) does nothing", "hist, jsonl, dbcop, elle"},
      {"s: [w(\"1\",1)]?", Format::Plume, "T1 (line 1) is of unknown outcome", "hist, jsonl, elle"},
      {"s: [w(\"1\",1)]!", Format::AwditTest, "T1 (line 1) is aborted",
       "hist, jsonl, plume, dbcop, elle"},
      {"s: [w(\"1\",1) w(\"2\",1)]!", Format::Plume, "has 2 writes, and it marks single writes",
       "hist, jsonl, dbcop, elle"},
      {"s: [r(\"1\",0)]!", Format::Plume, "is aborted and reads", "hist, jsonl, dbcop"},
      {"s: [r(\"1\",0)]!", Format::Elle, "is aborted and reads", "hist, jsonl, dbcop"},
      {"init \"1\"=5 s: [r(\"1\",5)]", Format::Plume, "cannot state that '1' starts with 5",
       "hist, jsonl, isopredict"},
      {"s: [r(\"1\",0)]", Format::AwditTest, "no initial values, and '1' is read from T0",
       "hist, jsonl, plume, dbcop, elle, isopredict"},
      {"s: [w(\"1\",5)] t: [w(\"1\",5)] u: [r(\"1\",@T1)]", Format::Plume,
       "T3 (line 1) reads '1' from T1 (line 1), whose value 5 others write too",
       "hist, jsonl, isopredict"},
      {"s: [w(\"1\",0)] u: [r(\"1\",@T0)]", Format::Plume, "from T0, whose value 0",
       "hist, jsonl, dbcop, elle, isopredict"},
      {"s: [r(\"1\",7)]", Format::IsoPredict,
       "reads '1' from no committed transaction's last write",
       "hist, jsonl, plume, awdit-test, dbcop, elle"},
  };
  for (const Obstacle& obstacle : kObstacles) {
    SCOPED_TRACE(obstacle.hist);
    std::string text;
    const auto done = write_history(history_of(obstacle.hist), obstacle.format,
                                    [&](std::string_view piece) { text += piece; });
    ASSERT_FALSE(done.ok()) << text;
    EXPECT_EQ(text, "");
    EXPECT_THAT(done.error().what, HasSubstr(obstacle.what));
    EXPECT_EQ(done.error().hint, std::string("formats that can: ") + obstacle.others);
  }
}

TEST(Formats, SayWhatHistCannotHold) {
  const std::string head = "{\"format\":\"isoscope-history/1\"}\n";
  const auto obstacle = [&](const std::string& session, const std::string& id,
                            const std::string& rest) {
    const std::string text = head + R"({"session":")" + session + R"(","id":")" + id +
                             R"(","status":"committed",)" + rest + "}\n";
    return written(expect_read(Format::Jsonl, text), Format::Hist);
  };
  EXPECT_THAT(obstacle("a b", "T1", R"("ops":[])"), HasSubstr("that of the session 'a b'"));
  EXPECT_THAT(obstacle("a", "x-1", R"("ops":[])"), HasSubstr("that of the transaction 'x-1'"));
  EXPECT_THAT(obstacle("a", "T1", R"("ops":[["w","5",1]])"), HasSubstr("unlike '5'"));
  EXPECT_THAT(obstacle("a", "T1", R"("ops":[["a","x",1]])"), HasSubstr("'x' is a list"));
  EXPECT_THAT(obstacle("a", "T1", R"("ops":[],"sql":"SELECT")"),
              HasSubstr("the SQL of T1 (line 2)"));
  EXPECT_THAT(obstacle("a", "T1", R"("ops":[],"at":"now")"), EndsWith("formats that can: jsonl"));
  EXPECT_THAT(obstacle("a", "T1", R"("ops":[["w",5,1]])"), Not(HasSubstr("cannot")));
}

TEST(Formats, CannotAllBeWritten) {
  const History h = history_of("s: [w(x,1)]");
  EXPECT_THAT(written(h, Format::Cobra), HasSubstr("cobra can only be read"));
  EXPECT_THAT(written(h, Format::DbcopBincode), HasSubstr("dbcop-bincode can only be read"));
}

// The implied initial state has a name of its own in each format.
TEST(Formats, TranslateImpliedInitialValues) {
  const History elle = expect_read(Format::Elle,
                                   "{:type :ok :process 1 :value [[:r 1 nil] [:w 1 7]]}\n"
                                   "{:type :ok :process 2 :value [[:r 1 7]]}\n");
  EXPECT_EQ(written(elle, Format::Plume), "r(1,0,1,1)\nw(1,7,1,1)\nr(1,7,2,2)\n");
  EXPECT_EQ(written(elle, Format::Hist), "s1: [r(\"1\",nil) w(\"1\",7)]\ns2: [r(\"1\",7)]\n");
  const History plume = expect_read(Format::Plume, "r(1,0,1,1)\n");
  EXPECT_THAT(written(plume, Format::Elle),
              HasSubstr(":ok, :process 1, :f :txn, :value [[:r 1 nil]]"));
}

// A 0 that nobody wrote is no initial value, though hist would take it for one.
TEST(Formats, DoNotExcuseThinAirReads) {
  const History awdit = expect_read(Format::AwditTest, "r 1 0\n");
  EXPECT_THAT(written(awdit, Format::Hist), HasSubstr("no transaction wrote the 0"));
  const History elle = expect_read(Format::Elle, "{:type :ok :process 1 :value [[:r 1 0]]}\n");
  EXPECT_EQ(written(elle, Format::Hist), "init \"1\"=nil\ns1: [r(\"1\",0)]\n");
  EXPECT_THAT(written(elle, Format::Plume), HasSubstr("no transaction wrote the 0"));
}

TEST(Formats, KeepNumbersWhereTheyHaveSome) {
  const History h = expect_read(Format::Plume, "w(1,1,3,7)\nw(1,2,4,7)\nw(2,3,3,9)\n");
  EXPECT_EQ(written(h, Format::Plume), "w(1,1,3,7)\nw(1,2,4,7)\nw(2,3,3,9)\n");
  EXPECT_EQ(written(h, Format::IsoPredict),
            "WRITE KEY[1] Txn(3, 7)\nWRITE KEY[1] Txn(4, 7)\nWRITE KEY[2] Txn(3, 9)\n");
  EXPECT_EQ(written(h, Format::Hist),
            "s3: t3_7=[w(\"1\",1)]  t9=[w(\"2\",3)]\ns4: t4_7=[w(\"1\",2)]\n");
  const History named = history_of("alice: go=[w(\"1\",1)]  bob: [w(\"1\",2)]");
  EXPECT_EQ(written(named, Format::Plume), "w(1,1,1,1)\nw(1,2,2,2)\n");
}

}  // namespace
}  // namespace isoscope
