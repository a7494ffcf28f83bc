#pragma once
// Small random applications close to the border of what a server's levels keep safe: rows that are
// looked at, locked in one of the modes, and changed, by one statement or by two; rows that come
// and go; a counter; a parent with children.
#include <fmt/format.h>

#include <string>

#include "support/random_text.h"

namespace isoscope::audit {

class RandomServerApp : private RandomText {
 public:
  explicit RandomServerApp(Choices choices, int max_functions = 3)
      : RandomText(choices), max_functions_(max_functions) {}

  std::string text() {
    has_deletes_ = rng_.chance(0.3);
    std::string text =
        "CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL, grp integer NOT NULL);\n"
        "CREATE TABLE item (id integer PRIMARY KEY, val integer NOT NULL, tag integer UNIQUE);\n"
        "CREATE TABLE chi (id integer PRIMARY KEY, up integer REFERENCES acc (id), n integer);\n";
    const int num_functions = 1 + below(max_functions_);
    for (int f = 0; f < num_functions; ++f) text += function(f);
    return text;
  }

 private:
  std::string function(int number) {
    std::string body;
    const int num_statements = 1 + below(3);
    for (int i = 0; i < num_statements; ++i) body += "  " + statement() + "\n";
    return fmt::format(
        "CREATE FUNCTION f{}(p integer, q integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
        "DECLARE x integer; y integer;\nBEGIN\n{}  RETURN {};\nEND; $$;\n",
        number, body, pick({"x", "y", "0", "coalesce(x, 7) + 10 * coalesce(y, 7)"}));
  }

  std::string key() { return pick({"p", "p", "p", "q", "1", "3 - p"}); }
  std::string lock() {
    return pick({"", "", " FOR UPDATE", " FOR NO KEY UPDATE", " FOR SHARE", " FOR KEY SHARE"});
  }
  std::string number(const std::string& column) {
    return pick({"q", column + " + 1", column + " - 1", "x - 1", "coalesce(x, 0) + 1"});
  }

  std::string look() {
    return pick({"SELECT bal INTO x FROM acc WHERE id = " + key() + lock() + ";",
                 "SELECT bal INTO x FROM acc WHERE id = " + key() + lock() + ";",
                 "SELECT bal INTO y FROM acc WHERE id = " + key() + " AND bal > 0" + lock() + ";",
                 "PERFORM 1 FROM acc WHERE id = " + key() + lock() + ";",
                 "SELECT sum(bal) INTO y FROM acc WHERE grp = q;",
                 "SELECT count(*) INTO x FROM acc WHERE bal > 0;",
                 "SELECT val INTO x FROM item WHERE id = " + key() + lock() + ";",
                 "SELECT count(*) INTO y FROM item WHERE val = q;",
                 "SELECT max(id) INTO x FROM item;",
                 "SELECT id INTO y FROM item WHERE tag = " + key() + ";",
                 "SELECT count(*) INTO x FROM chi WHERE up = p;",
                 "x := (SELECT bal FROM acc WHERE id = 1) + (SELECT bal FROM acc WHERE id = 2);"});
  }

  std::string change() {
    if (has_deletes_ && rng_.chance(0.25))
      return pick({"DELETE FROM item WHERE id = " + key() + ";", "DELETE FROM item WHERE val = q;",
                   "DELETE FROM item WHERE id = p RETURNING val INTO x;",
                   "DELETE FROM chi WHERE up = p;", "DELETE FROM acc WHERE id = p;"});
    return pick(
        {"UPDATE acc SET bal = " + number("bal") + " WHERE id = " + key() + ";",
         "UPDATE acc SET bal = " + number("bal") + " WHERE id = p;",
         "UPDATE acc SET bal = bal - 1 WHERE id = p AND bal > 0;",
         "UPDATE acc SET bal = bal - 1 WHERE id = p AND bal > 0 RETURNING bal INTO y;",
         "UPDATE acc SET bal = bal - 1 WHERE id = p AND bal = x;",
         "UPDATE acc SET bal = bal + 1 WHERE grp = q;", "UPDATE acc SET grp = q WHERE id = p;",
         "INSERT INTO item VALUES (p, q, NULL);",
         "INSERT INTO item VALUES (p, q, p) ON CONFLICT DO NOTHING;",
         "INSERT INTO item VALUES (p, 1, NULL) ON CONFLICT (id) DO UPDATE SET val = item.val + 1 "
         "RETURNING val INTO x;",
         "INSERT INTO item VALUES (coalesce(x, 0) + 1, q, NULL);",
         "UPDATE item SET val = val + 1 WHERE id = " + key() + ";",
         "UPDATE item SET val = q WHERE id = p AND val <> q;",
         "UPDATE item SET tag = q WHERE id = p;", "INSERT INTO chi VALUES (p, q, 0);",
         "INSERT INTO chi VALUES (p, p, 0) ON CONFLICT DO NOTHING;",
         "UPDATE chi SET n = n + 1 WHERE up = p;"});
  }

  std::string statement() {
    const int kind = below(20);
    if (kind < 8) return look();
    if (kind < 15) return change();
    if (kind == 15) return "UPDATE acc SET bal = (SELECT count(*) FROM item) WHERE id = p;";
    return fmt::format("IF {} THEN {} {}END IF;",
                       pick({"x > 0", "x IS NULL", "NOT FOUND", "y IS NULL", "x > y"}), change(),
                       rng_.chance(0.3) ? pick({"RETURN 7; ", "RAISE EXCEPTION 'no'; "}) : "");
  }

  int max_functions_;
  bool has_deletes_ = false;
};

}  // namespace isoscope::audit
