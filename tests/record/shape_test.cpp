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
  std::string text = gated(sql, s, 7, GateKind::OwnId);
  const std::string gate = gate_condition(7, GateKind::OwnId);
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
  const std::string sql =
      "SELECT a, sum(b) AS total FROM shop.t x WHERE x.id = $1 AND c = 'y' "
      "GROUP BY a ORDER BY total LIMIT 5";
  const Shape s = shape(sql);
  EXPECT_EQ(s.gap, "");
  EXPECT_EQ(s.schema, "shop");
  EXPECT_EQ(s.table, "t");
  EXPECT_EQ(s.alias, "x");
  EXPECT_EQ(Constants(s, sql).text(s.condition), " x.id = $1 AND c = 'y'");
  EXPECT_THAT(s.equated_columns, ElementsAre("c", "id"));
  EXPECT_THAT(s.used_columns, ElementsAre("a", "b", "total"));
  ASSERT_TRUE(s.limit);
  EXPECT_EQ(Constants(s, sql).integer(*s.limit), 5);
  EXPECT_FALSE(s.counts_rows);
  EXPECT_TRUE(shape("SELECT * FROM t WHERE id > 1").equated_columns.empty());
  EXPECT_TRUE(shape("SELECT * FROM t FOR SHARE").locks_rows);
  EXPECT_FALSE(shape("SELECT 1").reads_tables);
  EXPECT_FALSE(
      shape("SELECT relname FROM pg_catalog.pg_class JOIN pg_attribute ON true").reads_tables);
}

TEST(Shape, NamesWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> cases[] = {
      {"SELECT 1 FROM a, b LIMIT 1", "LIMIT"},
      {"SELECT 1 FROM a JOIN b USING (x) FOR UPDATE", "a lock on a join"},
      {"SELECT 1 FROM a NATURAL JOIN b", "NATURAL"},
      {"SELECT 1 FROM a JOIN (SELECT y FROM b) q ON true", "a table with a sub-query"},
      {"WITH q AS (DELETE FROM a RETURNING x) SELECT * FROM q", "something else than SELECT"},
      {"SELECT * INTO b FROM a", "SELECT INTO"},
      {"SELECT * FROM a OFFSET 3", "OFFSET"},
      {"SELECT * FROM a FOR UPDATE SKIP LOCKED", "SKIP LOCKED"},
      {"UPDATE a SET x = 1 FROM b", "a join"},
      {"DELETE FROM a USING b", "a join"},
      {"DELETE FROM a WHERE CURRENT OF c", "CURRENT OF"},
      {"INSERT INTO a SELECT * FROM b", "INSERT … SELECT"},
      {"INSERT INTO a VALUES ((SELECT 1))", "a sub-query"},
  };
  for (const auto& [sql, why] : cases) {
    const Shape s = shape(sql);
    EXPECT_THAT(s.gap, HasSubstr(why)) << sql;
    EXPECT_TRUE(s.gate.empty()) << sql;
  }
}

std::string tables_of(const Shape& s) {
  std::string out;
  for (const Block& block : s.blocks) {
    out += "[";
    for (const BlockTable& table : block.tables) out += table.name + " " + table.alias + ",";
    out += block.where + "]";
  }
  return out;
}

TEST(Shape, FindsTheBlocksOfAQuery) {
  const std::pair<std::string, std::string> cases[] = {
      {"SELECT a.x FROM a JOIN b ON b.id = a.b WHERE a.y = 1 AND b.z < 3",
       "[a a,b b,(a.y = 1) AND (b.z < 3)]"},
      {"SELECT x FROM s.a t WHERE y BETWEEN 1 AND 2 AND z IN (SELECT z FROM b WHERE q = 1)",
       "[a t,(y BETWEEN 1 AND 2)][b b,(q = 1)]"},
      {"SELECT x FROM a UNION SELECT y FROM b WHERE z = 1 ORDER BY 1", "[a a,][b b,(z = 1)]"},
      {"WITH c AS (SELECT x FROM a WHERE y = 1), d (x) AS (SELECT 1) SELECT * FROM c, d",
       "[a a,(y = 1)][][]"},
      {"SELECT EXISTS (SELECT 1 FROM a WHERE x = 1)", "[][a a,(x = 1)]"},
      {"SELECT x FROM a WHERE y = 1 OR EXISTS (SELECT 1 FROM b)", "[a a,][b b,]"},
      {"SELECT x FROM (SELECT x FROM a WHERE y = 1) q", "[][a a,(y = 1)]"},
      {"SELECT count(*) FROM a LEFT JOIN b USING (id)", "[a a,b b,]"},
  };
  for (const auto& [sql, tables] : cases) {
    const Shape s = shape(sql);
    EXPECT_EQ(s.gap, "") << sql;
    EXPECT_EQ(tables_of(s), tables) << sql;
    EXPECT_FALSE(s.gate.empty()) << sql;
  }
}

TEST(Shape, GatesCursorsAndUpserts) {
  EXPECT_THAT(gated("DECLARE c CURSOR FOR SELECT x FROM a",
                    shape("DECLARE c CURSOR FOR SELECT x FROM a"), 5, GateKind::Transaction),
              HasSubstr("SELECT x FROM a WHERE (SELECT"));
  const std::string upsert =
      "INSERT INTO a (id, n) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET n = a.n + 1";
  const Shape s = shape(upsert);
  EXPECT_EQ(s.gap, "");
  EXPECT_EQ(s.conflict, Shape::Conflict::IsUpdated);
  EXPECT_EQ(Constants(s, upsert).text(s.values), "1, 2");
  EXPECT_TRUE(s.used_columns.contains("n"));
  EXPECT_THAT(gated(upsert, s, 5, GateKind::OwnId), HasSubstr("ON CONFLICT (id) DO UPDATE"));
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

// Every way to name a table is either read or a gap; none is passed over.
TEST(Shape, PassesOverNoTableOfAQuery) {
  const auto tables = [](std::string_view sql) {
    const Shape s = shape(sql);
    std::string all = s.gap;
    for (const Block& block : s.blocks) {
      for (const BlockTable& table : block.tables) all += table.name + " ";
    }
    return all;
  };
  EXPECT_EQ(tables("WITH t AS (SELECT * FROM t WHERE a) SELECT v FROM t"), "t ");
  EXPECT_EQ(tables("SELECT (WITH u AS (SELECT 1 AS x) SELECT x FROM u), v FROM t, u"), "t u ");
  EXPECT_EQ(tables("WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) "
                   "SELECT n FROM t"),
            "");
  EXPECT_EQ(tables("SELECT v FROM t WHERE id IN (VALUES (1), (2))"), "t ");
  EXPECT_EQ(tables("SELECT v FROM t WHERE id IN (VALUES ((SELECT max(id) FROM u)))"), "t u ");
  for (const char* sql :
       {"SELECT (SELECT v FROM t TABLESAMPLE BERNOULLI (50))", "SELECT EXISTS (TABLE t)",
        "SELECT id FROM t UNION TABLE u", "SELECT v FROM t, u WHERE (1) IN (TABLE w)",
        "(SELECT v FROM t, u) ORDER BY 1", "WITH w AS (TABLE t) SELECT * FROM w"})
    EXPECT_EQ(tables(sql).substr(0, 28), "a query that cannot be read") << sql;
  EXPECT_EQ(shape("SELECT v FROM t JOIN u ON u.id = (SELECT max(id) FROM w)").gap,
            "a sub-query in ON");
  EXPECT_TRUE(shape("SELECT v FROM t LEFT JOIN u ON u.t = t.id").blocks.at(0).has_outer_join);
  EXPECT_FALSE(shape("SELECT v FROM t JOIN u ON u.t = t.id").blocks.at(0).has_outer_join);
}

TEST(Shape, IsNoLookupIfAColumnIsEquatedTwice) {
  EXPECT_THAT(shape("SELECT v FROM t WHERE id = 1 AND id = 2").equated_columns, testing::IsEmpty());
}

}  // namespace
}  // namespace isoscope::record
