#pragma once
// Small random applications whose statements go through row sets or run other functions: helper
// functions, triggers, views, INSERT … SELECT, UPDATE … FROM, RETURNING of rows, outer joins,
// groups, WITH, loops over queries, EXCEPTION blocks. What they leave does not depend on the order
// in which the server finds rows. Near the border of what a server's levels keep safe.
#include <fmt/format.h>

#include <string>

#include "support/random_text.h"

namespace isoscope::audit {

class RandomRowsApp : private RandomText {
 public:
  explicit RandomRowsApp(Choices choices) : RandomText(choices) {}

  std::string text() {
    std::string text =
        "CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL, grp integer NOT NULL);\n"
        "CREATE TABLE item (id integer PRIMARY KEY, val integer NOT NULL, up integer);\n"
        "CREATE TABLE log (id integer PRIMARY KEY, n integer NOT NULL);\n"
        "CREATE VIEW rich AS SELECT id AS who, bal AS sum FROM acc WHERE bal > 0;\n"
        "CREATE VIEW by_group AS SELECT grp, sum(bal) AS total, count(*) AS many FROM acc "
        "GROUP BY grp;\n";
    has_trigger_ = rng_.chance(0.35);
    has_handlers_ = rng_.chance(0.5);
    if (has_trigger_) text += trigger();
    helper_ = pick({"look", "take", "rows", "none"});
    text += helper();
    const int num_functions = 1 + below(2);
    for (int f = 0; f < num_functions; ++f) text += function(f);
    return text;
  }

 private:
  static std::string function_text(const std::string& head, const std::string& body) {
    return fmt::format(
        "CREATE FUNCTION {} LANGUAGE plpgsql AS $$\n"
        "DECLARE x integer; y integer; r record;\nBEGIN\n{}END; $$;\n",
        head, body);
  }

  std::string trigger() {
    const std::string when = pick({"AFTER UPDATE", "AFTER INSERT OR UPDATE", "BEFORE UPDATE"});
    std::string body;
    if (when == "BEFORE UPDATE") {
      body = pick({"  IF NEW.bal < 0 THEN RAISE EXCEPTION 'too little'; END IF;\n",
                   "  NEW.grp := OLD.grp + 1;\n", "  IF OLD.grp = 2 THEN NEW.bal := 0; END IF;\n"});
    } else {
      body = pick(
          {"  UPDATE log SET n = n + 1 WHERE id = NEW.grp;\n",
           "  INSERT INTO log VALUES (NEW.id, NEW.bal) ON CONFLICT (id) DO UPDATE SET n = log.n + "
           "1;\n",
           "  INSERT INTO log SELECT NEW.id, count(*) FROM item ON CONFLICT DO NOTHING;\n",
           "  IF (SELECT sum(bal) FROM acc) < 0 THEN RAISE EXCEPTION 'too little'; END IF;\n",
           "  IF NEW.bal = 1 THEN UPDATE item SET val = NEW.bal WHERE id = NEW.id; END IF;\n"});
    }
    return "CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n" + body +
           "  RETURN NEW;\nEND; $$;\nCREATE TRIGGER tr " + when +
           " ON acc FOR EACH ROW EXECUTE FUNCTION fired();\n";
  }

  std::string helper() {
    if (helper_ == "look") {
      return function_text("look(k integer) RETURNS integer" + pick({"", " STABLE"}),
                           pick({"  SELECT bal INTO x FROM acc WHERE id = k;\n",
                                 "  SELECT sum(bal) INTO x FROM acc;\n",
                                 "  SELECT sum(bal) INTO x FROM acc WHERE grp = k;\n",
                                 "  SELECT count(*) INTO x FROM item WHERE up = k;\n"}) +
                               "  RETURN coalesce(x, 0);\n");
    }
    if (helper_ == "take") {
      return function_text(
          "take(k integer, n integer) RETURNS integer",
          pick({"  SELECT bal INTO x FROM acc WHERE id = k" + pick({"", " FOR UPDATE"}) +
                    ";\n  IF x IS NULL OR x < n THEN RETURN 0; END IF;\n"
                    "  UPDATE acc SET bal = x - n WHERE id = k;\n",
                "  UPDATE acc SET bal = bal - n WHERE id = k AND bal >= n RETURNING bal INTO x;\n"
                "  IF NOT FOUND THEN RETURN 0; END IF;\n",
                "  UPDATE log SET n = log.n + 1 WHERE id = k RETURNING log.n INTO x;\n"
                "  IF x > 1 THEN RETURN 7; END IF;\n"}) +
              "  RETURN 1;\n");
    }
    if (helper_ == "rows") {
      return function_text("rows(k integer) RETURNS TABLE (a integer, b integer)",
                           "  RETURN QUERY " +
                               pick({"SELECT id, bal FROM acc WHERE grp = k",
                                     "SELECT id, val FROM item WHERE up = k",
                                     "UPDATE item SET val = val + 1 WHERE id = k RETURNING id, "
                                     "val"}) +
                               ";\n");
    }
    return "";
  }

  std::string function(int number) {
    std::string body;
    const int num_statements = 1 + below(3);
    for (int i = 0; i < num_statements; ++i) body += "  " + statement() + "\n";
    body += "  RETURN " + pick({"x", "y", "0", "coalesce(x, 7) + 10 * coalesce(y, 7)"}) + ";\n";
    return function_text(fmt::format("f{}(p integer, q integer) RETURNS integer", number), body);
  }

  std::string call() {
    if (helper_ == "look")
      return pick({"x := look(p);",
                   "IF look(q) > 0 THEN UPDATE acc SET bal = q WHERE id = p; END "
                   "IF;",
                   "INSERT INTO log VALUES (p, look(q)) ON CONFLICT DO NOTHING;",
                   "SELECT look(p) INTO y;"});
    if (helper_ == "take")
      return pick({"x := take(p, 1);", "PERFORM take(p, q);",
                   "IF take(p, 1) = 1 THEN UPDATE acc SET bal = bal + 1 WHERE id = q; END IF;",
                   "SELECT take(q, 1) INTO y;"});
    if (helper_ == "rows")
      return pick({"SELECT a INTO x FROM rows(p) ORDER BY a LIMIT 1;",
                   "SELECT sum(b) INTO y FROM rows(q);",
                   "FOR r IN SELECT a, b FROM rows(p) ORDER BY a LOOP x := coalesce(x, 0) + r.b; "
                   "END LOOP;"});
    return look();
  }

  std::string look() {
    return pick(
        {"SELECT sum INTO x FROM rich WHERE who = p;", "SELECT count(*) INTO y FROM rich;",
         "SELECT total INTO x FROM by_group WHERE grp = p;",
         "SELECT max(total) INTO y FROM by_group;",
         "SELECT a.bal, i.val INTO x, y FROM acc a LEFT JOIN item i ON i.up = a.id WHERE a.id = p "
         "ORDER BY i.id LIMIT 1;",
         "SELECT count(i.id) INTO x FROM acc a LEFT JOIN item i ON i.up = a.id WHERE a.grp = q;",
         "WITH w AS (SELECT id, bal FROM acc WHERE grp = q) SELECT sum(bal) INTO x FROM w;",
         "WITH w AS (SELECT bal FROM acc WHERE id = p) SELECT bal INTO x FROM w;",
         "SELECT count(*) INTO y FROM (SELECT grp FROM acc GROUP BY grp HAVING sum(bal) > 0) AS g;",
         "SELECT a.bal, i.val INTO x, y FROM acc a JOIN item i ON i.id = a.grp WHERE a.id = p;",
         "SELECT bal INTO x FROM acc WHERE id = p" +
             pick({"", " FOR UPDATE", " FOR NO KEY UPDATE"}) + ";",
         "SELECT count(*) INTO x FROM acc a WHERE EXISTS (SELECT 1 FROM item WHERE up = a.id);",
         "SELECT bal INTO y FROM acc WHERE id = p UNION SELECT val FROM item WHERE id = q ORDER BY "
         "1 LIMIT 1;"});
  }

  std::string change() {
    return pick(
        {"INSERT INTO item SELECT id, bal, grp FROM acc WHERE grp = q ON CONFLICT DO NOTHING;",
         "INSERT INTO log SELECT p, count(*) FROM item ON CONFLICT (id) DO UPDATE SET n = "
         "excluded.n;",
         "INSERT INTO item VALUES (p, q, 1), (q, p, 2) ON CONFLICT DO NOTHING;",
         "UPDATE acc SET bal = acc.bal + i.val FROM item i WHERE i.id = p AND acc.id = i.up;",
         "UPDATE acc SET bal = i.val FROM item i WHERE i.id = acc.id AND acc.grp = q;",
         "UPDATE acc SET bal = bal - 1 WHERE id = p;",
         "UPDATE acc SET bal = bal - 1 WHERE id = p AND bal > 0 RETURNING bal INTO x;",
         "UPDATE acc SET bal = x + 1 WHERE id = p;", "UPDATE item SET val = val + 1 WHERE up = p;",
         "DELETE FROM item USING acc a WHERE a.id = p AND item.up = a.grp;",
         "FOR r IN SELECT id, bal FROM acc WHERE grp = q ORDER BY id LOOP UPDATE item SET val = "
         "r.bal WHERE id "
         "= r.id; END LOOP;",
         "FOR r IN UPDATE acc SET bal = bal + 1 WHERE grp = q RETURNING id, bal LOOP x := "
         "coalesce(x, 0) + r.bal; END LOOP; SELECT 0 AS id, 0 AS bal INTO r;",
         "FOR r IN SELECT count(*) AS c FROM item LOOP UPDATE log SET n = r.c WHERE id = p; END "
         "LOOP;",
         "WITH w AS (UPDATE acc SET bal = bal - 1 WHERE id = p RETURNING bal) SELECT bal INTO x "
         "FROM w;",
         "WITH w AS (DELETE FROM item WHERE id = p RETURNING val) INSERT INTO log SELECT q, val "
         "FROM w ON CONFLICT DO NOTHING;",
         "UPDATE log SET n = (SELECT count(*) FROM item) WHERE id = p;"});
  }

  std::string statement() {
    const int kind = below(20);
    if (kind < 6) return look();
    if (kind < 12) return change();
    if (kind < 15) return call();
    if (kind == 15 && has_handlers_)
      return fmt::format(
          "BEGIN {} EXCEPTION WHEN {} THEN {} END;", look() + " " + change(),
          pick({"OTHERS", "unique_violation"}),
          pick({"x := 7;", "RETURN 7;", "RAISE;", "RAISE EXCEPTION 'no';", look(), change()}));
    return fmt::format("IF {} THEN {} {}END IF;",
                       pick({"x > 0", "x IS NULL", "NOT FOUND", "x > y"}), change(),
                       rng_.chance(0.3) ? pick({"RETURN 7; ", "RAISE EXCEPTION 'no'; "}) : "");
  }

  bool has_trigger_ = false;
  bool has_handlers_ = false;
  std::string helper_;
};

}  // namespace isoscope::audit
