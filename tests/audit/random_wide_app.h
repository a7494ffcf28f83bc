#pragma once
// Small random applications that use what RandomApp leaves out: constraints that look at other
// rows, ON CONFLICT, RETURNING, FOUND, arrays, NULL, texts, joins, locks, ORDER BY and LIMIT,
// numbers that the database makes up, and every kind of loop.
//
// Each program draws from two or three themes only: what weak isolation can do to it depends on
// statements that meet in the same tables.
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "support/random_text.h"

namespace isoscope::audit {

class RandomWideApp : private RandomText {
 public:
  // Of these themes, or of any.
  explicit RandomWideApp(Choices choices, std::vector<int> themes = {})
      : RandomText(choices), themes_(std::move(themes)) {}

  std::string text() {
    const std::string key = pick({"UNIQUE (mail)", "UNIQUE (grp, mail)", "UNIQUE (mail, id)"});
    const std::string check = pick({"a + b >= 0", "a <= b + 1", "a <> 2 OR b > 0"});
    const std::string to = pick({"par (id)", "par (id)", "par (code)"});
    std::string text =
        "CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL, kind integer, flag "
        "boolean "
        "NOT NULL, name text);\n"
        "CREATE TABLE usr (id integer PRIMARY KEY, grp integer, mail integer, " +
        key +
        ");\n"
        "CREATE TABLE par (id integer PRIMARY KEY, code integer UNIQUE, val integer);\n"
        "CREATE TABLE chi (id integer PRIMARY KEY, up integer REFERENCES " +
        to +
        ", val integer);\n"
        "CREATE TABLE two (id integer PRIMARY KEY, a integer NOT NULL, b integer NOT NULL, CHECK "
        "(" +
        check +
        "));\n"
        "CREATE TABLE item (owner integer, nr integer, val integer, PRIMARY KEY (owner, nr));\n"
        "CREATE TABLE log (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, what integer);\n"
        "CREATE TABLE seq (id integer PRIMARY KEY, next integer NOT NULL);\n";
    if (themes_.empty()) {
      for (int i = 1 + below(3); i > 0; --i) themes_.push_back(below(kNumThemes));
    }
    const int num_functions = 1 + below(3);
    for (int f = 0; f < num_functions; ++f) text += function(f);
    return text;
  }

 private:
  static constexpr int kNumThemes = 9;

  std::string function(int number) {
    std::string body;
    const int num_statements = 1 + below(3);
    for (int i = 0; i < num_statements; ++i) body += "  " + statement(2) + "\n";
    return fmt::format(
        "CREATE FUNCTION f{}(p integer, q integer, ps integer[], c boolean, s text) RETURNS "
        "integer LANGUAGE plpgsql AS $$\n"
        "DECLARE x integer; y integer; v integer; n integer := 0;\nBEGIN\n{}  RETURN {};\nEND; "
        "$$;\n",
        number, body, pick({"x", "y", "0", "n", "coalesce(x, 7) + 10 * coalesce(y, 7) + 100 * n"}));
  }

  std::string key() { return pick({"p", "p", "q", "1", "coalesce(x, 0)"}); }
  std::string value() { return pick({"q", "p", "x", "NULL", "1", "coalesce(y, 0) + 1", "v"}); }
  std::string var() { return pick({"x", "y"}); }
  std::string lock() { return pick({"", "", " FOR UPDATE", " FOR SHARE"}); }
  std::string number(const std::string& column) {
    return pick({"q", "p", column + " + 1", column + " - 1", "coalesce(x, 0)", "1"});
  }

  std::string plain() {
    switch (themes_[rng_.below(themes_.size())]) {
      case 0:  // UNIQUE
        return pick(
            {"INSERT INTO usr VALUES (p, q, " + value() + ")",
             "INSERT INTO usr VALUES (p, " + value() + ", q) ON CONFLICT DO NOTHING",
             "INSERT INTO usr VALUES (p, 1, q) ON CONFLICT (id) DO UPDATE SET mail = excluded.mail",
             "INSERT INTO usr VALUES (p, 1, q) ON CONFLICT (id) DO UPDATE SET grp = usr.grp + 1 "
             "WHERE usr.mail > " +
                 value() + " RETURNING grp INTO " + var(),
             "UPDATE usr SET mail = " + value() + " WHERE id = " + key(),
             "UPDATE usr SET grp = " + value() + " WHERE id = " + key(),
             "UPDATE usr SET mail = mail + 1 WHERE grp = q",
             "UPDATE usr SET grp = q WHERE mail = p", "DELETE FROM usr WHERE id = " + key(),
             "DELETE FROM usr WHERE mail = q", "DELETE FROM usr WHERE id = p AND mail = q",
             "SELECT mail INTO x FROM usr WHERE id = " + key(),
             "SELECT id INTO y FROM usr WHERE mail = " + value(),
             "SELECT count(*) INTO x FROM usr WHERE grp = q"});
      case 1:  // FOREIGN KEY
        return pick(
            {"INSERT INTO par VALUES (p, q, 0)",
             "INSERT INTO par VALUES (p, p, 0) ON CONFLICT DO NOTHING",
             "INSERT INTO chi VALUES (p, " + value() + ", q)",
             "INSERT INTO chi VALUES (p, q, 0) ON CONFLICT (id) DO UPDATE SET up = q",
             "UPDATE chi SET up = " + value() + " WHERE id = " + key(),
             "UPDATE chi SET up = val WHERE id = p", "UPDATE chi SET up = q WHERE val = 1",
             "UPDATE chi SET val = q WHERE up = p",
             "UPDATE par SET code = " + value() + " WHERE id = p",
             "UPDATE par SET val = val + 1 WHERE id = " + key(),
             "DELETE FROM par WHERE id = " + key(), "DELETE FROM par WHERE val = q",
             "DELETE FROM chi WHERE id = p", "DELETE FROM chi WHERE up = q",
             "SELECT up INTO x FROM chi WHERE id = " + key(),
             "SELECT val INTO y FROM par WHERE id = q",
             "SELECT count(*) INTO x FROM chi WHERE up = p",
             "SELECT par.val INTO x FROM par JOIN chi ON chi.up = par.id WHERE chi.id = q"});
      case 2:  // CHECK
        return pick(
            {"UPDATE two SET a = " + number("a") + " WHERE id = " + key(),
             "UPDATE two SET b = " + number("b") + " WHERE id = " + key(),
             "UPDATE two SET a = b, b = a WHERE id = p",
             "UPDATE two SET a = a + 1 WHERE b = q RETURNING b INTO x",
             "UPDATE two SET a = q WHERE b > 0",
             "SELECT a INTO x FROM two WHERE id = " + key() + lock(),
             "SELECT b INTO y FROM two WHERE id = " + key() + lock(),
             "INSERT INTO two VALUES (p, q, 1)",
             "INSERT INTO two VALUES (p, 1, q) ON CONFLICT (id) DO UPDATE SET a = two.a + 1"});
      case 3:  // items
        return pick(
            {"INSERT INTO item VALUES (p, q, " + value() + ")",
             "INSERT INTO item VALUES (p, q, 1) ON CONFLICT (owner, nr) DO UPDATE SET val = "
             "item.val + 1 RETURNING val INTO x",
             "INSERT INTO item VALUES (p, q, 1) ON CONFLICT DO NOTHING RETURNING val INTO y",
             "DELETE FROM item WHERE owner = p AND nr = q AND val = 1",
             "DELETE FROM item WHERE owner = p AND nr = q RETURNING val INTO x",
             "DELETE FROM item WHERE val = q",
             "DELETE FROM item WHERE owner = p AND nr > q",
             "UPDATE item SET val = " + value() + " WHERE owner = p AND nr = q",
             "UPDATE item SET val = val + 1 WHERE val = q",
             "UPDATE item SET val = 2 WHERE owner = p RETURNING nr INTO y",
             "SELECT val INTO x FROM item WHERE owner = p ORDER BY val LIMIT 1",
             "SELECT nr INTO y FROM item WHERE owner = p ORDER BY nr DESC LIMIT 1",
             "SELECT nr INTO x FROM item WHERE val = q ORDER BY nr LIMIT 1 OFFSET 1",
             "SELECT DISTINCT val INTO x FROM item WHERE owner = p ORDER BY val",
             "SELECT count(val) INTO x FROM item WHERE owner = p",
             "SELECT count(DISTINCT val) INTO x FROM item",
             "SELECT sum(val) INTO y FROM item WHERE owner = p",
             "SELECT max(val) INTO y FROM item WHERE owner = p",
             "SELECT min(nr) INTO y FROM item WHERE owner = p AND val = q",
             "SELECT max(nr), count(*) INTO x, y FROM item WHERE owner = p",
             "SELECT val INTO STRICT x FROM item WHERE owner = p AND nr = q"});
      case 4:  // accounts
        return pick(
            {"SELECT bal INTO x FROM acc WHERE id = " + key() + lock(),
             "SELECT kind INTO y FROM acc WHERE id = " + key() + lock(),
             "SELECT bal INTO x FROM acc WHERE kind = q" + lock(),
             "SELECT bal INTO y FROM acc WHERE flag AND kind IS NULL" + lock(),
             "PERFORM id FROM acc WHERE kind = q" + lock(),
             "SELECT id INTO x FROM acc WHERE name = s ORDER BY bal DESC LIMIT 1" + lock(),
             "UPDATE acc SET bal = " + number("bal") + " WHERE id = " + key(),
             "UPDATE acc SET kind = " + value() + " WHERE id = " + key(),
             "UPDATE acc SET flag = c WHERE id = p",
             "UPDATE acc SET flag = NOT flag WHERE id = p RETURNING bal INTO x",
             "UPDATE acc SET name = s WHERE id = p AND name <> 'b'",
             "UPDATE acc SET name = s || 'a' WHERE id = q", "UPDATE acc SET bal = 0 WHERE kind = q",
             "UPDATE acc SET bal = 1 WHERE flag",
             "SELECT a.bal INTO x FROM acc a JOIN acc b ON a.id = b.kind WHERE b.id = p" + lock(),
             "SELECT count(*) INTO y FROM acc a, acc b WHERE a.bal = b.kind",
             "SELECT sum(bal) INTO x FROM acc WHERE kind = q OR flag"});
      case 5:  // arrays
        return pick({"SELECT bal INTO x FROM acc WHERE id = ps[1]",
                     "UPDATE acc SET bal = q WHERE id = ps[2]",
                     "UPDATE acc SET bal = bal + cardinality(ps) WHERE id = p",
                     "SELECT count(*) INTO y FROM acc WHERE id = ANY(ps) AND bal > 0",
                     "UPDATE acc SET kind = 1 WHERE kind = ANY(ps)",
                     "UPDATE acc SET bal = 1 WHERE NOT (id = ANY(ps))",
                     "n := n + coalesce(cardinality(ps), 0)"});
      case 6:  // numbers that the database makes up
        return pick(
            {"INSERT INTO log (what) VALUES (q)",
             "INSERT INTO log (what) VALUES (q) RETURNING id INTO x",
             "SELECT count(*) INTO y FROM log WHERE what = p", "DELETE FROM log WHERE what = q",
             "UPDATE log SET what = what + 1 WHERE what = p", "SELECT max(what) INTO x FROM log",
             "UPDATE acc SET bal = bal + 1 WHERE id = " + key()});
      case 7:  // counted rows
        return pick(
            {"SELECT next INTO x FROM seq WHERE id = p;\n"
             "  UPDATE seq SET next = next + 1 WHERE id = p;\n"
             "  INSERT INTO item VALUES (p, x, " +
                 value() + ")",
             "UPDATE seq SET next = next + 1 WHERE id = p RETURNING next INTO x;\n"
             "  INSERT INTO item VALUES (p, x - 1, q)",
             "UPDATE seq SET next = next + 2 WHERE id = " + key(), "DELETE FROM seq WHERE id = q",
             "SELECT min(nr) INTO y FROM item WHERE owner = p",
             "SELECT min(nr) INTO y FROM item WHERE owner = p;\n"
             "  DELETE FROM item WHERE owner = p AND nr = y",
             "SELECT max(nr) INTO y FROM item WHERE owner = p",
             "SELECT val INTO x FROM item WHERE owner = p AND nr = " + key(),
             "UPDATE item SET val = 1 WHERE owner = p AND nr = y",
             "SELECT next INTO y FROM seq WHERE id = " + key()});
      default:  // FOUND and ROW_COUNT
        return pick(
            {"UPDATE acc SET bal = q WHERE id = p; IF NOT FOUND THEN n := 1; END IF",
             "DELETE FROM item WHERE owner = p AND nr = q; IF FOUND THEN UPDATE acc SET bal "
             "= bal + 1 WHERE id = p; END IF",
             "DELETE FROM item WHERE val = q; GET DIAGNOSTICS n = ROW_COUNT",
             "PERFORM 1 FROM item WHERE owner = p; IF NOT FOUND THEN INSERT INTO item VALUES "
             "(p, 0, q); END IF",
             "IF EXISTS (SELECT 1 FROM item WHERE owner = p AND val = q) THEN n := 2; END IF",
             "IF FOUND THEN n := n + 1; END IF",
             "INSERT INTO item VALUES (p, q, 1) ON CONFLICT DO NOTHING; IF NOT FOUND THEN n "
             ":= 5; END IF",
             "UPDATE item SET val = 1 WHERE owner = p AND nr = q",
             "UPDATE acc SET bal = (SELECT count(*) FROM item WHERE owner = p) WHERE id = q"});
    }
  }

  std::string condition() {
    return pick({"x > 0", "x IS NULL", "p = q", "y IS NOT NULL AND y < 2", "x > q", "c", "NOT c",
                 "s = 'a'", "s < 'b'", "p = ANY(ps)", "NOT (x = ANY(ps))", "cardinality(ps) = 2",
                 "FOUND", "ps IS NULL", "p IS NULL", "x = y", "coalesce(x, y) = 1"});
  }

  std::string loop(int depth) {
    const std::string body = statement(depth - 1);
    const std::string leave =
        pick({"", "", " EXIT WHEN x > 0;", " CONTINUE WHEN y IS NULL;", " EXIT;"});
    const std::string rest = leave.empty() ? "" : leave + " " + plain() + ";";
    switch (below(7)) {
      case 0: return "FOR v IN 1 .. q LOOP " + body + rest + " END LOOP;";
      case 1: return "FOR v IN REVERSE q .. 1 LOOP " + body + rest + " END LOOP;";
      case 2: return "FOREACH v IN ARRAY ps LOOP " + body + rest + " END LOOP;";
      case 3: return "WHILE n < 2 LOOP n := n + 1; " + body + rest + " END LOOP;";
      case 4:
        return "FOR v IN SELECT nr FROM item WHERE owner = p LIMIT 1 LOOP " + body + rest +
               " END LOOP;";
      case 5:
        return "FOR v IN SELECT id FROM acc WHERE kind = q ORDER BY id LOOP " + body + rest +
               " END LOOP;";
      default: return "FOR v IN 0 .. q BY 2 LOOP " + body + rest + " END LOOP;";
    }
  }

  std::string statement(int depth) {
    const int kind = below(10);
    if (kind < 7 || depth == 0) return plain() + ";";
    if (kind < 9) {
      return fmt::format("IF {} THEN {} {}END IF;", condition(), statement(depth - 1),
                         rng_.chance(0.4) ? pick({"RETURN 7; ", "RAISE EXCEPTION 'no'; ",
                                                  "ELSE " + plain() + "; "})
                                          : "");
    }
    return loop(depth);
  }

  std::vector<int> themes_;
};

}  // namespace isoscope::audit
