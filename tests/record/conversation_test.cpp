#include "record/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/wire.h"
#include "support/rng.h"

namespace isoscope::record {
namespace {

using testing::ElementsAre;

std::string zero(std::string_view text) { return std::string(text) + '\0'; }

// A conversation without sockets: messages go in, transactions come out.
class Talk {
 public:
  Talk() {
    conversation_ = std::make_unique<Conversation>(
        Transactions(1, Isolation::declared("read committed"),
                     [this](const Client&, RecordedTxn txn) { txns.push_back(std::move(txn)); }),
        [this] { return ++now_; });
  }

  void query(std::string_view sql) { conversation_->from_client('Q', zero(sql)); }
  void parse(std::string_view name, std::string_view sql) {
    conversation_->from_client('P', zero(name) + zero(sql) + std::string(2, '\0'));
  }
  void bind(std::string_view portal, std::string_view name) {
    conversation_->from_client('B', zero(portal) + zero(name) + std::string(6, '\0'));
  }
  void execute(std::string_view portal = "") {
    conversation_->from_client('E', zero(portal) + std::string(4, '\0'));
  }
  void sync() { conversation_->from_client('S', ""); }
  void client(char type) { conversation_->from_client(type, ""); }
  // Replies: each letter is a message; C is told its tag by tag().
  void replies(std::string_view types) {
    for (const char type : types) conversation_->from_server(type, "");
  }
  void tag(std::string_view text) { conversation_->from_server('C', zero(text)); }
  void error(std::string_view code) {
    conversation_->from_server('E', zero("C" + std::string(code)) + '\0');
  }
  void ready(char status) { conversation_->from_server('Z', std::string(1, status)); }
  void end() { conversation_->ended(); }
  Conversation& conversation() { return *conversation_; }

  // "committed: select 1 | select 2"
  std::vector<std::string> told() const {
    std::vector<std::string> lines;
    for (const RecordedTxn& txn : txns) {
      constexpr const char* kStatus[] = {"committed", "aborted", "unknown"};
      std::string line = kStatus[static_cast<std::size_t>(txn.status)];
      line += ":";
      for (const RecordedStatement& statement : txn.statements) {
        line += " " + statement.sql;
        if (!statement.error.empty()) line += " (" + statement.error + ")";
      }
      if (!txn.gaps.empty()) line += " ?";
      lines.push_back(line);
    }
    return lines;
  }

  std::vector<RecordedTxn> txns;

 private:
  Microseconds now_ = 0;
  std::unique_ptr<Conversation> conversation_;
};

TEST(Conversation, TakesAQueryOutsideOfABlockForATransaction) {
  Talk talk;
  talk.query("select 1; select 2");
  talk.tag("SELECT 1");
  talk.tag("SELECT 1");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("committed: select 1 select 2"));
}

TEST(Conversation, FollowsBlocksAcrossQueries) {
  Talk talk;
  talk.query("begin isolation level serializable");
  talk.tag("BEGIN");
  talk.ready('T');
  talk.query("update t set v = 1");
  talk.tag("UPDATE 1");
  talk.ready('T');
  talk.query("commit");
  talk.tag("COMMIT");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("committed: update t set v = 1"));
  EXPECT_EQ(talk.txns[0].isolation.text, "serializable");
  EXPECT_TRUE(talk.txns[0].is_explicit);
}

TEST(Conversation, EndsAFailedBlockAsAborted) {
  Talk talk;
  talk.query("begin");
  talk.tag("BEGIN");
  talk.ready('T');
  talk.query("select 1/0");
  talk.error("22012");
  talk.ready('E');
  talk.query("commit");
  talk.tag("ROLLBACK");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("aborted: select 1/0 (22012)"));
  EXPECT_EQ(talk.txns[0].error, "22012");
}

TEST(Conversation, GoesOnAfterARollbackToASavepoint) {
  Talk talk;
  talk.query("begin; savepoint a");
  talk.tag("BEGIN");
  talk.tag("SAVEPOINT");
  talk.ready('T');
  talk.query("select 1/0");
  talk.error("22012");
  talk.ready('E');
  talk.query("rollback to a");
  talk.tag("ROLLBACK");
  talk.ready('T');
  talk.query("commit");
  talk.tag("COMMIT");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("committed: savepoint a select 1/0 (22012) rollback to a"));
}

TEST(Conversation, TellsATransactionFromTheNextWithinOneText) {
  Talk talk;
  talk.query("insert into t values (1); commit; select 2");
  talk.tag("INSERT 0 1");
  talk.tag("COMMIT");
  talk.tag("SELECT 1");
  talk.ready('I');
  EXPECT_THAT(talk.told(),
              ElementsAre("committed: insert into t values (1)", "committed: select 2"));
}

TEST(Conversation, FailedCommitAborts) {
  Talk talk;
  talk.query("begin");
  talk.tag("BEGIN");
  talk.ready('T');
  talk.query("select 1");
  talk.tag("SELECT 1");
  talk.ready('T');
  talk.query("commit");
  talk.error("40001");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("aborted: select 1"));
  EXPECT_EQ(talk.txns[0].error, "40001");
}

// The second Parse fails: its name keeps the first text, for whoever uses it afterwards.
TEST(Conversation, ResolvesNamesWhenTheReplyComes) {
  Talk talk;
  talk.parse("a", "select 1");
  talk.bind("", "a");
  talk.execute();
  talk.sync();
  talk.parse("a", "selec");
  talk.bind("", "a");
  talk.execute();
  talk.sync();
  talk.bind("", "a");
  talk.execute();
  talk.sync();
  talk.replies("12");
  talk.tag("SELECT 1");
  talk.ready('I');
  talk.error("42601");
  talk.ready('I');
  talk.replies("2");
  talk.tag("SELECT 1");
  talk.ready('I');
  EXPECT_THAT(talk.told(),
              ElementsAre("committed: select 1", "aborted: selec (42601)", "committed: select 1"));
}

TEST(Conversation, TakesAPipelineUpToASyncForATransaction) {
  Talk talk;
  for (const char* sql : {"select 1", "select 2"}) {
    talk.parse("", sql);
    talk.bind("", "");
    talk.execute();
  }
  talk.sync();
  for (int i = 0; i < 2; ++i) {
    talk.replies("12");
    talk.tag("SELECT 1");
  }
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("committed: select 1 select 2"));
}

TEST(Conversation, TakesASuspendedPortalForOneStatement) {
  Talk talk;
  talk.parse("", "select 1");
  talk.bind("", "");
  talk.execute();
  talk.execute();
  talk.sync();
  talk.replies("12s");
  talk.tag("SELECT 1");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("committed: select 1"));
}

// The Sync that libpq sends with Execute is ignored by a server that waits for rows.
TEST(Conversation, IgnoresASyncWhileRowsAreCopiedIn) {
  Talk talk;
  talk.parse("", "copy t from stdin");
  talk.bind("", "");
  talk.execute();
  talk.sync();
  talk.replies("12G");
  talk.client('c');
  talk.sync();
  talk.tag("COPY 2");
  talk.ready('I');
  talk.query("select 1");
  talk.tag("SELECT 1");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("committed: copy t from stdin", "committed: select 1"));
}

TEST(Conversation, LeavesTheOutcomeOpenWhenTheConnectionEndsDuringCommit) {
  Talk talk;
  talk.query("begin");
  talk.tag("BEGIN");
  talk.ready('T');
  talk.query("select 1");
  talk.tag("SELECT 1");
  talk.ready('T');
  talk.query("commit");
  talk.end();
  EXPECT_THAT(talk.told(), ElementsAre("unknown: select 1"));
  Talk other;
  other.query("update t set v = 1");
  other.end();
  EXPECT_THAT(other.told(), ElementsAre("unknown: update t set v = 1 ?"));
  Talk third;
  third.query("begin; select 1");
  third.tag("BEGIN");
  third.tag("SELECT 1");
  third.ready('T');
  third.end();
  EXPECT_THAT(third.told(), ElementsAre("aborted: select 1"));
}

TEST(Conversation, BelievesTheServerWhereAProcedureCommits) {
  Talk talk;
  talk.query("begin; select 1");
  talk.tag("BEGIN");
  talk.tag("SELECT 1");
  talk.ready('I');
  EXPECT_THAT(talk.told(), ElementsAre("unknown: select 1 ?"));
}

// Whatever either side says, in whatever order, nothing breaks.
TEST(Conversation, SurvivesAnyOrderOfMessages) {
  Rng rng(11);
  for (int round = 0; round < 2000; ++round) {
    Talk talk;
    for (std::uint64_t i = rng.below(40); i > 0; --i) {
      std::string payload;
      for (std::uint64_t n = rng.below(12); n > 0; --n)
        payload.push_back(rng.below(3) == 0 ? '\0' : static_cast<char>(rng.below(256)));
      switch (rng.below(6)) {
        case 0: talk.conversation().from_client("QPBECDSHFXcf"[rng.below(12)], payload); break;
        case 1: talk.conversation().from_server("CEZKS123sIGHWnV"[rng.below(15)], payload); break;
        case 2: talk.conversation().passing_client(static_cast<char>(rng.below(128))); break;
        case 3: talk.conversation().passing_server(static_cast<char>(rng.below(128))); break;
        case 4: talk.query("begin; select 1; commit; rollback to a"); break;
        default: talk.ready("ITE"[rng.below(3)]); break;
      }
    }
    talk.end();
    for (const RecordedTxn& txn : talk.txns) {
      EXPECT_TRUE(!txn.statements.empty() || !txn.gaps.empty());
      EXPECT_LE(txn.start, txn.end);
    }
  }
}

}  // namespace
}  // namespace isoscope::record
