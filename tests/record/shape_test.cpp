#include "record/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/gatekeeper.h"

namespace isoscope::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Shape shape(std::string_view sql) { return shape_of(sql, split_statements(sql).at(0).kind); }

// The text with a short word for the gate.
std::string with_gate(std::string_view sql) {
  const Shape s = shape(sql);
  if (s.gate.empty()) return "gap: " + s.gap;
  std::string text = gated(sql, s, 7);
  const std::string gate = gate_condition(7, s.kind != StatementKind::Select);
  for (std::size_t at = text.find(gate); at != std::string::npos; at = text.find(gate))
    text.replace(at, gate.size(), "G");
  return text;
}

TEST(Gate, StandsBeforeTheCondition) {
  EXPECT_EQ(with_gate("SELECT v FROM t WHERE id = 1"), "SELECT v FROM t WHERE G AND ( id = 1)");
  EXPECT_EQ(with_gate("select v from t where a or b order by v limit 3"),
            "select v from t where G AND ( a or b) order by v limit 3");
  EXPECT_EQ(with_gate("SELECT count(*) FROM t"), "SELECT count(*) FROM t WHERE G");
  EXPECT_EQ(with_gate("SELECT a AS order, count(*) FILTER (WHERE b) FROM t GROUP BY 1 HAVING true"),
            "SELECT a AS order, count(*) FILTER (WHERE b) FROM t WHERE G GROUP BY 1 HAVING true");
  EXPECT_EQ(with_gate("SELECT v FROM t -- all\n"), "SELECT v FROM t WHERE G -- all\n");
  EXPECT_EQ(with_gate("SELECT v FROM t WHERE id = $1 -- mine"),
            "SELECT v FROM t WHERE G AND ( id = $1) -- mine");
  EXPECT_EQ(with_gate("SELECT * FROM t FOR UPDATE"), "SELECT * FROM t WHERE G FOR UPDATE");
  EXPECT_EQ(with_gate("UPDATE t SET v = v + 1 WHERE id = 1 RETURNING v"),
            "UPDATE t SET v = v + 1 WHERE G AND ( id = 1) RETURNING v");
  EXPECT_EQ(with_gate("DELETE FROM t"), "DELETE FROM t WHERE G");
  EXPECT_EQ(with_gate("INSERT INTO t (a, b) VALUES ($1, lower(('x'))) RETURNING a"),
            "INSERT INTO t (a, b) SELECT $1, lower(('x')) WHERE G RETURNING a");
  EXPECT_EQ(with_gate("INSERT INTO t VALUES (1), (2)"), "gap: ");
  // Errors in VALUES, but not in SELECT; or the other way round.
  EXPECT_EQ(with_gate("INSERT INTO t VALUES (DEFAULT)"), "gap: ");
  EXPECT_EQ(with_gate("INSERT INTO t VALUES (generate_series(1, 3))"), "gap: ");
  EXPECT_EQ(with_gate("INSERT INTO t VALUES (count(*))"), "gap: ");
}

TEST(Shape, SaysWhatIsReadAndHow) {
  const Shape s = shape(
      "SELECT a, sum(b) AS total FROM shop.t x WHERE x.id = $1 AND c = 'y' "
      "GROUP BY a ORDER BY total LIMIT 5");
  EXPECT_EQ(s.gap, "");
  EXPECT_EQ(s.schema, "shop");
  EXPECT_EQ(s.table, "t");
  EXPECT_EQ(s.alias, "x");
  EXPECT_EQ(s.condition, " x.id = $1 AND c = 'y'");
  EXPECT_THAT(s.equated_columns, ElementsAre("c", "id"));
  EXPECT_THAT(s.used_columns, ElementsAre("a", "b", "total"));
  EXPECT_EQ(s.limit, 5);
  EXPECT_FALSE(s.counts_rows);
  EXPECT_TRUE(shape("SELECT * FROM t WHERE id > 1").equated_columns.empty());
  EXPECT_TRUE(shape("SELECT * FROM t FOR SHARE").locks_rows);
  EXPECT_FALSE(shape("SELECT 1").reads_tables);
  EXPECT_FALSE(
      shape("SELECT relname FROM pg_catalog.pg_class JOIN pg_attribute ON true").reads_tables);
}

TEST(Shape, NamesWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> cases[] = {
      {"SELECT 1 FROM a, b", "a join"},
      {"SELECT 1 FROM a JOIN b USING (x)", "a join"},
      {"SELECT 1 FROM (SELECT 2) q", "a sub-query"},
      {"SELECT (SELECT v FROM b) FROM a", "a sub-query"},
      {"SELECT 1 FROM a WHERE x IN (SELECT y FROM b)", "a sub-query"},
      {"WITH q AS (SELECT 1) SELECT * FROM q", "WITH"},
      {"SELECT 1 FROM a UNION SELECT 2 FROM b", "UNION"},
      {"SELECT * INTO b FROM a", "SELECT INTO"},
      {"SELECT * FROM a OFFSET 3", "OFFSET"},
      {"SELECT * FROM a FOR UPDATE SKIP LOCKED", "SKIP LOCKED"},
      {"SELECT * FROM generate_series(1, 3)", "something else than a table"},
      {"UPDATE a SET x = 1 FROM b", "a join"},
      {"DELETE FROM a USING b", "a join"},
      {"DELETE FROM a WHERE CURRENT OF c", "CURRENT OF"},
      {"INSERT INTO a SELECT * FROM b", "INSERT … SELECT"},
      {"INSERT INTO a VALUES ((SELECT 1))", "a sub-query"},
      {"INSERT INTO a VALUES (1) ON CONFLICT DO NOTHING", "ON CONFLICT"},
  };
  for (const auto& [sql, why] : cases) {
    const Shape s = shape(sql);
    EXPECT_THAT(s.gap, HasSubstr(why)) << sql;
    EXPECT_TRUE(s.gate.empty()) << sql;
  }
}

TEST(PlaceBeforeEdits, UndoesWhatWasInserted) {
  // "ab" + "XX" + "cd", then "ef" became "Y"
  const std::vector<Splice> edits = {{2, 0, "XX"}, {4, 2, "Y"}};
  const std::string sent = "abXXcdYg";
  const std::size_t places[] = {1, 2, 3, 3, 3, 4, 5, 7};
  for (std::size_t i = 0; i < sent.size(); ++i)
    EXPECT_EQ(place_before_edits(sent, edits, i + 1), places[i]) << i;
  EXPECT_EQ(place_before_edits("äXb", {{2, 0, "X"}}, 3), 2U);
}

}  // namespace
}  // namespace isoscope::record
