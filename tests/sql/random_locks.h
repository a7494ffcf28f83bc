#pragma once
// Small random SQL programs with advisory locks.
#include <fmt/format.h>

#include <string>

#include "support/rng.h"

namespace isoscope::sql {

// Three sessions that take advisory locks on two numbers, shared or not, write rows of their own
// and read all: queues, and places in them that the server changes. (Of three that wait for one row
// the server chooses who is next.)
inline std::string random_locks(std::uint64_t seed) {
  Rng rng(seed);
  std::string out = "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, u int);\n";
  for (int n = 1; n <= 3; ++n) {
    out += fmt::format(
        "CREATE FUNCTION f{}() RETURNS void LANGUAGE plpgsql AS $$ DECLARE x int; l boolean; "
        "BEGIN\n",
        n);
    const int statements = 2 + static_cast<int>(rng.below(2));
    for (int i = 0; i < statements; ++i) {
      const auto key = 1 + rng.below(2);
      switch (rng.below(6)) {
        case 0:
        case 1: out += fmt::format("  PERFORM pg_advisory_xact_lock({});\n", key); break;
        case 2: out += fmt::format("  PERFORM pg_advisory_xact_lock_shared({});\n", key); break;
        case 3:
          out += fmt::format("  SELECT pg_try_advisory_xact_lock_shared({}) INTO l;\n", key);
          break;
        case 4: out += "  SELECT sum(v) INTO x FROM t;\n"; break;
        default: out += fmt::format("  UPDATE t SET v = v * 2 + 1 WHERE id = {};\n", n); break;
      }
    }
    out += "END $$;\n";
  }
  return out +
         "INSERT INTO t VALUES (1, 10, 1), (2, 200, 2), (3, 3000, 3);\n-- session a: f1()\n-- "
         "session b: f2()\n"
         "-- session c: f3()\n";
}

}  // namespace isoscope::sql
