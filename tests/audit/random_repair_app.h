#pragma once
// Small random applications that ask for repairs: looks, tests and changes in the many ways in
// which people write them, so that some can be made one statement or be locked, and some must not
// be.
#include <fmt/format.h>

#include <string>

#include "support/random_text.h"

namespace isoscope::audit {

class RandomRepairApp : private RandomText {
 public:
  explicit RandomRepairApp(Choices choices) : RandomText(choices) {}

  std::string text() {
    std::string text =
        "CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL, grp integer NOT "
        "NULL);\n"
        "CREATE TABLE log (id integer PRIMARY KEY, item integer" +
        pick({"", " REFERENCES item (id)"}) + ", n integer);\n";
    const int num_functions = 1 + below(2);
    for (int f = 0; f < num_functions; ++f) text += function(f);
    return text;
  }

 private:
  // Looks, tests and changes often name the same row.
  std::string where() {
    return pick({row_, row_, row_, row_, row_, row_, "grp = p", "id = p AND grp = q"});
  }
  std::string value(const std::string& variable) {
    return pick(
        {variable + " - 1", variable + " - 1", variable + " + q", variable + " * 2", "stock - 1"});
  }
  std::string look() {
    return pick({"SELECT stock INTO n FROM item WHERE " + where() + ";\n",
                 "SELECT stock INTO n FROM item WHERE " + where() + ";\n",
                 "SELECT stock INTO n FROM item WHERE " + where() + ";\n",
                 "SELECT stock INTO n FROM item WHERE " + where() + ";\n",
                 "SELECT stock, grp INTO n, m FROM item WHERE " + where() + ";\n",
                 "SELECT DISTINCT stock INTO n FROM item WHERE " + where() + ";\n",
                 "n := (SELECT stock FROM item WHERE " + row_ + ");\n",
                 "SELECT count(*) INTO n FROM item WHERE grp = q;\n",
                 "PERFORM 1 FROM item WHERE " + where() + ";\n"});
  }
  std::string change() {
    return pick({"UPDATE item SET stock = " + value("n") + " WHERE " + where() + ";\n",
                 "UPDATE item SET stock = " + value("n") + " WHERE " + where() + ";\n",
                 "UPDATE item SET stock = " + value("n") + ", grp = " + pick({"m + 1", "q"}) +
                     " WHERE " + where() + ";\n",
                 "INSERT INTO log VALUES (p, q, n) ON CONFLICT DO NOTHING;\n"});
  }
  std::string test() {
    return pick({"n > 0", "n > 0", "n > 0", "n > 0", "n >= q", "n > 0 AND n < 9", "FOUND", "m = q",
                 "EXISTS (SELECT 1 FROM item WHERE " + row_ + " AND stock > 0)",
                 "NOT EXISTS (SELECT 1 FROM log WHERE item = p)"});
  }
  std::string function(int number) {
    row_ = pick({"id = p", "id = p", "id = q"});
    const std::string declared =
        pick({"n integer; ", "n integer; ", "n integer; ", "n integer; ", "n integer; ",
              "n integer := (SELECT stock FROM item WHERE id = p); ",
              "n integer := (SELECT count(*) FROM item WHERE grp = q); "});
    std::string body;
    if (rng_.chance(0.85)) body += look();
    if (rng_.chance(0.15)) body += pick({"p := q;\n", "n := n + 1;\n", "PERFORM 1;\n"});
    if (rng_.chance(0.6)) {
      body +=
          "IF " + test() + " THEN\n" + change() +
          (rng_.chance(0.3) ? "INSERT INTO log VALUES (p, p, 1) ON CONFLICT DO NOTHING;\n" : "") +
          (rng_.chance(0.3) ? "ELSE\n" + pick({change(), "m := 5;\n", "RETURN -1;\n"}) : "") +
          "END IF;\n";
    } else {
      body += change();
    }
    if (rng_.chance(0.2)) body += change();
    return fmt::format(
        "CREATE FUNCTION f{}(p integer, q integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
        "DECLARE {}m integer;\nBEGIN\n{}RETURN {};\nEND; $$;\n",
        number, declared, body, pick({"0", "0", "0", "n", "m", "CASE WHEN FOUND THEN 1 END"}));
  }

  std::string row_;
};

}  // namespace isoscope::audit
