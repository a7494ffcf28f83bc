#pragma once
// Small random applications, close to the border between safe and unsafe: a table whose rows stay
// (acc), one whose rows come and go (item), and a counter that may number them.
#include <fmt/format.h>

#include <string>

#include "support/random_text.h"

namespace isoscope::audit {

class RandomApp : private RandomText {
 public:
  explicit RandomApp(Choices choices) : RandomText(choices) {}

  std::string text() {
    std::string text =
        "CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL, kind integer NOT NULL);\n"
        "CREATE TABLE item (owner integer, nr integer, val integer, PRIMARY KEY (owner, nr));\n"
        "CREATE TABLE seq (id integer PRIMARY KEY, next integer NOT NULL);\n";
    const int num_functions = 1 + below(2);
    for (int f = 0; f < num_functions; ++f) text += function(f);
    return text;
  }

 private:
  std::string function(int number) {
    std::string body;
    const int num_statements = 1 + below(3);
    for (int i = 0; i < num_statements; ++i) body += "  " + statement(2) + "\n";
    return fmt::format(
        "CREATE FUNCTION f{}(p integer, q integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
        "DECLARE x integer; y integer;\nBEGIN\n{}  RETURN {};\nEND; $$;\n",
        number, body, pick({"x", "y", "0", "x + y"}));
  }

  std::string key() { return pick({"p", "p", "q", "1"}); }

  std::string read() {
    return pick({"SELECT bal INTO x FROM acc WHERE id = " + key() + pick({"", "", " FOR UPDATE"}),
                 "SELECT bal INTO y FROM acc WHERE id = " + key(),
                 "SELECT val INTO x FROM item WHERE owner = " + key() + " AND nr = " + key(),
                 "SELECT count(*) INTO y FROM item WHERE owner = " + key(),
                 "SELECT min(nr) INTO x FROM item WHERE owner = " + key(),
                 "SELECT max(nr) INTO y FROM item WHERE owner = " + key(),
                 "SELECT nr INTO x FROM item WHERE val = q LIMIT 1",
                 "SELECT count(*) INTO x FROM acc WHERE kind = 1 AND bal > 0",
                 "SELECT next INTO x FROM seq WHERE id = p"});
  }

  std::string change() {
    return pick({"UPDATE acc SET bal = q WHERE id = " + key(),
                 "UPDATE acc SET bal = bal + 1 WHERE id = " + key(),
                 "UPDATE acc SET bal = x + 1 WHERE id = " + key(),
                 "UPDATE acc SET bal = bal + 1 WHERE kind = q", "INSERT INTO item VALUES (p, q, 1)",
                 "INSERT INTO item VALUES (p, x, y)",
                 "INSERT INTO item VALUES (p, q, 0) ON CONFLICT DO NOTHING",
                 "DELETE FROM item WHERE owner = p AND nr = q",
                 "DELETE FROM item WHERE owner = p AND nr = x", "DELETE FROM item WHERE owner = p",
                 "UPDATE item SET val = q WHERE owner = p AND nr = q",
                 "UPDATE item SET val = val + 1 WHERE owner = p",
                 "SELECT next INTO x FROM seq WHERE id = p;\n"
                 "  UPDATE seq SET next = x + 1 WHERE id = p;\n"
                 "  INSERT INTO item VALUES (p, x, q)"});
  }

  std::string statement(int depth) {
    const int kind = below(10);
    if (kind < 4) return read() + ";";
    if (kind < 7) return change() + ";";
    if (kind < 9 || depth == 0) {
      return fmt::format(
          "IF {} THEN {} {}END IF;",
          pick({"x > 0", "x IS NULL", "p = q", "y IS NOT NULL AND y < 2", "x > q"}),
          depth == 0 ? change() + ";" : statement(depth - 1),
          rng_.chance(0.3) ? pick({"RETURN 7; ", "RAISE EXCEPTION 'no'; ", "ELSE x := 3; "}) : "");
    }
    return pick({"FOR x IN SELECT nr FROM item WHERE owner = p LOOP " + change() + "; END LOOP;",
                 "FOR y IN 1 .. q LOOP " + change() + "; END LOOP;"});
  }
};

}  // namespace isoscope::audit
