#pragma once
// Small random SQL programs that can be executed as MariaDB does.
#include <fmt/format.h>

#include <string>

#include "support/rng.h"

namespace isoscope::sql {

// Two or three sessions of one or two calls, each of a function of one to three statements on rows
// of two tables, by their keys where something is locked.
class RandomInnodb {
 public:
  explicit RandomInnodb(std::uint64_t seed) : rng_(seed) {}

  std::string text() {
    std::string out =
        "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v < 40), u int);\n"
        "CREATE TABLE c (id int PRIMARY KEY, w int NOT NULL);\n";
    std::string sessions;
    int number = 0;
    const int num_sessions = rng_.chance(0.25) ? 3 : 2;
    for (int s = 0; s < num_sessions; ++s) {
      sessions += fmt::format("-- session {}:", static_cast<char>('a' + s));
      const int calls = num_sessions == 2 && rng_.chance(0.3) ? 2 : 1;
      for (int i = 0; i < calls; ++i) {
        out += function(++number, num_sessions == 3 ? 2 : 3);
        sessions += (i == 0 ? " f" : "; f") + std::to_string(number) + "()";
      }
      sessions += "\n";
    }
    out += "INSERT INTO t VALUES (1, 10, 1), (3, 20, 2);\nINSERT INTO c VALUES (1, 5);\n";
    return out + sessions;
  }

 private:
  std::string number(int below) { return std::to_string(1 + rng_.below(below)); }

  std::string function(int n, int most) {
    std::string body;
    const int statements = 1 + static_cast<int>(rng_.below(most));
    for (int i = 0; i < statements; ++i) body += "  " + statement() + "\n";
    return "CREATE FUNCTION f" + std::to_string(n) +
           "() RETURNS void LANGUAGE plpgsql AS $$ DECLARE x int; y int; BEGIN\n" + body +
           "END $$;\n";
  }

  std::string statement() {
    const std::string k = number(4);
    switch (rng_.below(20)) {
      case 0: return "SELECT v INTO x FROM t WHERE id = " + k + ";";
      case 1: return "SELECT sum(v) INTO y FROM t;";
      case 2: return "SELECT count(*) INTO y FROM t WHERE v > 12;";
      case 3: return "UPDATE t SET v = " + number(30) + " WHERE id = " + k + ";";
      case 4: return "UPDATE t SET v = v + " + number(12) + " WHERE id = " + k + ";";
      case 5: return "UPDATE t SET v = v - 10 WHERE id = " + k + " AND v >= 10;";
      case 6: return "UPDATE t SET v = v + 1, u = v WHERE id = " + k + ";";
      case 7: return "UPDATE t SET u = 2 WHERE id = " + k + ";";
      case 8: return "DELETE FROM t WHERE id = " + k + ";";
      case 9: return "DELETE FROM t WHERE id = " + k + " AND v > 15;";
      case 10:
      case 11: return "INSERT INTO t VALUES (" + k + ", " + number(30) + ", NULL);";
      case 12: return "INSERT INTO t (id, v) VALUES (" + k + ", 7), (" + number(5) + ", 8);";
      case 13: return "SELECT v INTO x FROM t WHERE id = " + k + " FOR UPDATE;";
      case 14: return "SELECT v INTO x FROM t WHERE id = " + k + " FOR SHARE;";
      case 15: return "SELECT v INTO x FROM t WHERE id = " + k + " AND v > 15 FOR UPDATE;";
      case 16: return "UPDATE c SET w = w + 1 WHERE id = 1;";
      case 17: return "SELECT w INTO y FROM c WHERE id = " + number(2) + ";";
      case 18: return "UPDATE t SET v = 3 WHERE id = " + k + " AND x > 9;";
      default: return "IF x > 9 THEN UPDATE t SET v = x + 1 WHERE id = " + k + "; END IF;";
    }
  }

  Rng rng_;
};

}  // namespace isoscope::sql
