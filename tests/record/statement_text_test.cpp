#include "record/statement_text.h"

#include <gtest/gtest.h>

namespace isoscope::record {
namespace {

TEST(SplitStatements, TellsWhatEachDoesToItsTransaction) {
  const std::string text =
      "begin isolation level serializable; select ';' ; /* ; */ savepoint a;\n"
      "rollback to a; release a; commit and chain; rollback; end; call p(); insert into t values "
      "(1)";
  const auto statements = split_statements(text);
  const StatementKind kinds[] = {StatementKind::Begin,     StatementKind::Select,
                                 StatementKind::Savepoint, StatementKind::RollbackTo,
                                 StatementKind::Release,   StatementKind::Commit,
                                 StatementKind::Rollback,  StatementKind::Commit,
                                 StatementKind::Call,      StatementKind::Insert};
  ASSERT_EQ(statements.size(), std::size(kinds));
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    EXPECT_EQ(statements[i].kind, kinds[i]) << statements[i].text;
  EXPECT_EQ(statements[0].isolation.text, "serializable");
  EXPECT_EQ(statements[1].text, "select ';'");
  EXPECT_TRUE(statements[5].chains);
  EXPECT_FALSE(statements[6].chains);
}

TEST(SplitStatements, FindsTheLevelThatIsSet) {
  const auto of = [](const char* text) { return split_statements(text).at(0); };
  EXPECT_EQ(of("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").isolation.text,
            "repeatable read");
  EXPECT_EQ(of("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").kind,
            StatementKind::SetTransaction);
  EXPECT_EQ(of("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE").kind,
            StatementKind::SetSession);
  EXPECT_EQ(of("SET default_transaction_isolation TO 'repeatable read'").isolation.text,
            "repeatable read");
  EXPECT_EQ(of("SET default_transaction_isolation TO 'REPEATABLE READ'").isolation,
            Isolation::declared("repeatable read"));
  EXPECT_TRUE(of("BEGIN ISOLATION LEVEL READ UNCOMMITTED").isolation.is_read_committed());
  EXPECT_EQ(of("SET search_path TO x").kind, StatementKind::Setting);
  EXPECT_EQ(of("SET TRANSACTION READ ONLY").isolation.text, "");
  EXPECT_EQ(of("CREATE TABLE t (id int)").kind, StatementKind::Setting);
  EXPECT_EQ(of("CREATE TEMP TABLE t (id int)").kind, StatementKind::Other);
  EXPECT_EQ(of("DROP TABLE t").kind, StatementKind::Other);
}

TEST(SplitStatements, TakesWhatDoesNotParseAsOne) {
  EXPECT_TRUE(split_statements(" \n ").empty());
  EXPECT_TRUE(split_statements("-- nothing").size() <= 1);
  const auto statements = split_statements("selec 1; select 2");
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0].kind, StatementKind::Other);
}

}  // namespace
}  // namespace isoscope::record
