#pragma once
// Small random SQL programs over two tables: key look-ups and scans, inserts with keys that depend
// on what was read, updates, deletes, conditions and loops. Every function returns a number made of
// all that it has read.
#include <fmt/format.h>

#include <string>

#include "support/random_text.h"

namespace isoscope::sql {

class RandomSql : private RandomText {
 public:
  explicit RandomSql(Choices choices) : RandomText(choices) {}

  std::string program() {
    std::string text =
        "CREATE TABLE t (k integer PRIMARY KEY, v integer);\n"
        "CREATE TABLE u (a integer, b integer, w integer CHECK (w < 9), PRIMARY KEY (a, b));\n";
    for (int k = 1; k <= 2; ++k) {
      if (rng_.chance(0.6)) text += fmt::format("INSERT INTO t VALUES ({}, {});\n", k, below(3));
      if (rng_.chance(0.4))
        text += fmt::format("INSERT INTO u VALUES ({}, {}, {});\n", k, below(2), below(3));
    }
    const int num_functions = 2 + below(2);
    for (int f = 0; f < num_functions; ++f) text += function(f);
    // Three or four calls: as many as can be ordered in all ways quickly.
    const bool is_wide = rng_.chance(0.4);
    for (int s = 0; s < (is_wide ? 3 : 2); ++s) {
      text += fmt::format("-- session s{}: {}", s, call(num_functions));
      if (!is_wide && rng_.chance(0.6)) text += "; " + call(num_functions);
      text += '\n';
    }
    return text;
  }

 private:
  std::string call(int num_functions) {
    return fmt::format("f{}({})", below(num_functions), 1 + below(3));
  }

  std::string function(int number) {
    std::string body;
    const int num_statements = 1 + below(3);
    for (int i = 0; i < num_statements; ++i) body += "  " + statement(1) + "\n";
    return fmt::format(
        "CREATE FUNCTION f{}(p integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
        "DECLARE x integer; seen integer := 0;\nBEGIN\n{}  RETURN seen;\nEND; $$;\n",
        number, body);
  }

  std::string number() { return pick({"p", "1", "2", "coalesce(x, 0)", "coalesce(x, 0) + 1"}); }

  std::string where_t() {
    return pick({"k = " + number(), "k > " + number(), "v > " + number(), "k <= p AND v < 2",
                 "v = 1 OR k = p", "NOT v > 1", "k IN (1, 3)", "v IS NULL"});
  }
  std::string where_u() {
    return pick({"a = " + number(), "a = p AND b = " + number(), "b < 2", "w > 1 AND a <> p",
                 "w BETWEEN 1 AND 2"});
  }

  std::string query() {
    return pick({"SELECT v INTO x FROM t WHERE k = " + number(),
                 "SELECT count(*) INTO x FROM t WHERE " + where_t(),
                 "SELECT sum(v) INTO x FROM t WHERE " + where_t(),
                 "SELECT min(k) INTO x FROM t WHERE " + where_t(), "SELECT max(k) INTO x FROM t",
                 "SELECT max(w) INTO x FROM u WHERE " + where_u(),
                 "SELECT k INTO x FROM t WHERE " + where_t() + " ORDER BY v DESC, k LIMIT 1",
                 "SELECT b INTO x FROM u WHERE " + where_u() + " LIMIT 1",
                 "SELECT t.v + u.w INTO x FROM t, u WHERE t.k = u.a AND u.b = " + number(),
                 "SELECT count(DISTINCT w) INTO x FROM u"});
  }

  std::string change() {
    return pick(
        {fmt::format("INSERT INTO t VALUES ({}, {})", number(), number()),
         fmt::format("INSERT INTO t VALUES ({}, 0) ON CONFLICT DO NOTHING", number()),
         fmt::format("INSERT INTO t VALUES ({}, 5) ON CONFLICT (k) DO UPDATE SET v = t.v + 1",
                     number()),
         fmt::format("INSERT INTO u VALUES ({}, {}, {})", number(), number(), number()),
         "UPDATE t SET v = v + 1 WHERE " + where_t(), "UPDATE t SET v = x WHERE k = " + number(),
         "UPDATE u SET w = w * 3 WHERE " + where_u(),
         "UPDATE t SET k = k + 3 WHERE k = " + number(), "DELETE FROM t WHERE k = " + number(),
         "DELETE FROM t WHERE " + where_t(), "DELETE FROM u WHERE " + where_u()});
  }

  std::string statement(int depth) {
    const int kind = below(10);
    if (kind < 4) return query() + "; seen := seen * 7 + coalesce(x, 5);";
    if (kind < 8) return change() + ";";
    if (kind == 8 || depth == 0)
      return fmt::format(
          "IF {} THEN {} END IF;",
          pick({"x > 1", "x IS NULL", "p = 2", "EXISTS (SELECT 1 FROM t WHERE " + where_t() + ")"}),
          depth == 0 ? change() + ";" : statement(depth - 1));
    return fmt::format("FOR x IN SELECT k FROM t WHERE {} LOOP seen := seen * 3 + x; {} END LOOP;",
                       where_t(), rng_.chance(0.5) ? change() + ";" : "");
  }
};

}  // namespace isoscope::sql
