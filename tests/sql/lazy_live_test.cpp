// Parts of expressions that are passed over, and casts of texts, held against PostgreSQL: what
// fails, gives two rows or waits for a lock does so only where the part is asked for.
#include <array>

#include "bodies_live.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kLazySchema = R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, d int NOT NULL, w text NOT NULL);
INSERT INTO t VALUES (1, 5, 0, '12'), (2, 6, 2, ' -3 '), (3, 7, 1, '7x');
CREATE TABLE log (who int, no int, x int, PRIMARY KEY (who, no));
)";
constexpr std::array kLazyBodies = {
    "IF p = 1 AND (SELECT 6 / (p - 1) FROM t WHERE id = 1) > 3 THEN UPDATE t SET v = 1 WHERE id = "
    "2; END IF;",
    "IF p <> 1 AND (SELECT 6 / (p - 1) FROM t WHERE id = 1) > 3 THEN UPDATE t SET v = 1 WHERE id = "
    "2; END IF; INSERT INTO log VALUES (p, 1, 1);",
    "IF p = 1 OR (SELECT v FROM t) = 5 THEN INSERT INTO log VALUES (p, 1, 2); END IF;",
    "IF p = 2 OR EXISTS (SELECT 1 FROM t WHERE v = 5) OR (SELECT v FROM t) = 5 THEN INSERT INTO "
    "log "
    "VALUES (p, 1, 2); END IF;",
    "IF p = 1 AND (SELECT v FROM t WHERE id = 1 FOR UPDATE) > 3 THEN UPDATE t SET v = v + 1 WHERE "
    "id "
    "= 2; END IF;",
    "IF p = 2 AND (SELECT v FROM t WHERE id = 1 FOR UPDATE) > 3 THEN UPDATE t SET v = v + 1 WHERE "
    "id "
    "= 2; END IF;",
    "UPDATE t SET v = v + 1 WHERE id = 1;",
    "UPDATE t SET v = v + 10 WHERE id IN (1, 2);",
    "x := CASE p WHEN 1 THEN 4 WHEN 2 THEN (SELECT v FROM t WHERE id = 1) ELSE (SELECT v FROM t) "
    "END; "
    "INSERT INTO log VALUES (p, 1, x);",
    "x := CASE WHEN p = 3 THEN 4 WHEN (SELECT v FROM t WHERE id = 1) > 5 THEN (SELECT d FROM t "
    "WHERE "
    "id = 2) ELSE (SELECT v / p FROM t WHERE id = 2) END; INSERT INTO log VALUES (p, 1, x);",
    "x := COALESCE((SELECT v FROM t WHERE id = 1 AND v > 5), (SELECT v FROM t WHERE d > p), "
    "(SELECT v "
    "FROM t)); INSERT INTO log VALUES (p, 1, x);",
    "x := COALESCE(p, (SELECT v FROM t)); INSERT INTO log VALUES (p, 1, x);",
    "x := LEAST(p, (SELECT v FROM t WHERE id = 1)); INSERT INTO log VALUES (p, 1, x);",
    "IF (p = 1 AND (p = 2 OR (SELECT v FROM t WHERE id = 1) = 5)) OR (p = 3 AND (SELECT v FROM t) "
    "= "
    "1) THEN INSERT INTO log VALUES (p, 1, 3); END IF;",
    "IF NULL::boolean AND (SELECT v FROM t) = 5 THEN INSERT INTO log VALUES (p, 1, 3); END IF;",
    "SELECT sum(v / d) FILTER (WHERE d <> 0) INTO x FROM t; INSERT INTO log VALUES (p, 1, x);",
    "SELECT max(v / d) FILTER (WHERE v < 5) INTO x FROM t; INSERT INTO log VALUES (p, 1, x);",
    "SELECT w::int INTO x FROM t WHERE id = p; INSERT INTO log VALUES (p, 1, x);",
    "SELECT w::int INTO x FROM t WHERE id = 3; INSERT INTO log VALUES (p, 1, x);",
    "UPDATE t SET w = v::text WHERE id = 3;",
    "UPDATE t SET w = (v > 5)::text WHERE id = 1;",
    "SELECT (w::boolean)::int INTO x FROM t WHERE id = 1; INSERT INTO log VALUES (p, 1, x);",
    "SELECT (w || '00000000')::int INTO x FROM t WHERE id = 1; INSERT INTO log VALUES (p, 1, x);",
};

class LazyLive : public BodiesLive {
 protected:
  LazyLive() : BodiesLive({.schema = kLazySchema, .bodies = kLazyBodies}) {}
};

TEST_P(LazyLive, BodiesEndAsExploreSays) { compare_each(); }

TEST_P(LazyLive, PairsEndAsExploreSays) { compare_pairs(0, kLazyBodies.size(), 5, 25); }

INSTANTIATE_TEST_SUITE_P(Levels, LazyLive, kBothLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
