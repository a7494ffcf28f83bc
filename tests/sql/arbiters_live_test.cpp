// ON CONFLICT by indexes that are no plain keys, held against PostgreSQL.
#include <array>

#include "bodies_live.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kArbiterSchema = R"(
CREATE TABLE w (id int PRIMARY KEY, k int, ready boolean NOT NULL, s smallint NOT NULL, n int NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX w_ready ON w (k) WHERE ready;
CREATE UNIQUE INDEX w_abs ON w (abs(s));
INSERT INTO w VALUES (1, 1, true, 150), (2, 1, false, 2);
CREATE TABLE z (id int PRIMARY KEY, m int, n int NOT NULL DEFAULT 0, UNIQUE NULLS NOT DISTINCT (m));
INSERT INTO z VALUES (1, NULL), (2, 4);
CREATE TABLE e (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, gone boolean NOT NULL, n int NOT NULL DEFAULT 0, UNIQUE (b));
CREATE UNIQUE INDEX e_ab ON e (a, (b % 10)) WHERE NOT gone AND a > 0;
CREATE UNIQUE INDEX e_b ON e (b) WHERE gone;
INSERT INTO e VALUES (1, 1, 3, false), (2, 2, 4, true);
CREATE TABLE log (who int, no int, x int, PRIMARY KEY (who, no));
)";
constexpr std::array kArbiterBodies = {
    "INSERT INTO w VALUES (10 + p, 1, true, 30 + p) ON CONFLICT (k) WHERE ready DO NOTHING; "
    "IF FOUND THEN INSERT INTO log VALUES (p, 1, 1); END IF;",
    "INSERT INTO w VALUES (10 + p, 1, true, 30 + p) ON CONFLICT (k) WHERE ready = true "
    "DO UPDATE SET n = w.n + excluded.id;",
    "INSERT INTO w VALUES (10 + p, 1, false, 30 + p) ON CONFLICT (k) WHERE ready "
    "DO UPDATE SET n = -1;",
    "INSERT INTO w VALUES (10 + p, 5 + p, true, -150) ON CONFLICT (abs(s)) "
    "DO UPDATE SET n = w.n + 1 WHERE w.ready RETURNING n INTO x; "
    "INSERT INTO log VALUES (p, 1, coalesce(x, -1));",
    "INSERT INTO w VALUES (10 + p, 1, true, -150) ON CONFLICT (abs(s)) DO NOTHING;",
    "INSERT INTO w VALUES (10 + p, 1, true, 40) ON CONFLICT (abs(s)) DO NOTHING;",
    "BEGIN INSERT INTO w VALUES (10 + p, 1, true, 40) ON CONFLICT (abs(s)) DO UPDATE SET k = 9; "
    "EXCEPTION WHEN unique_violation THEN INSERT INTO log VALUES (p, 1, 23505); END;",
    "INSERT INTO w VALUES (10 + p, 1, true, 50) ON CONFLICT (k) WHERE s > 0 AND ready "
    "DO UPDATE SET ready = false;",
    "UPDATE w SET ready = NOT ready WHERE id = 1;",
    "UPDATE w SET ready = true WHERE id = 2;",
    "UPDATE w SET k = 5 WHERE ready;",
    "DELETE FROM w WHERE id = 1;",
    "UPDATE w SET s = s + 1 WHERE id = 1;",
    "INSERT INTO z VALUES (10 + p, NULL) ON CONFLICT (m) DO UPDATE SET n = z.n + 1;",
    "INSERT INTO z VALUES (10 + p, 4) ON CONFLICT (m) DO NOTHING;",
    "UPDATE z SET m = 4 - id WHERE id = 1;",
    "DELETE FROM z WHERE m IS NULL;",
    "INSERT INTO e VALUES (10 + p, 1, 13, false) ON CONFLICT (a, (b % 10)) WHERE a > 0 AND NOT "
    "gone "
    "DO UPDATE SET n = e.n + 1;",
    "INSERT INTO e VALUES (10 + p, 1, 13, false) ON CONFLICT ((b % 10), a) WHERE NOT gone AND a > "
    "0 "
    "DO UPDATE SET gone = true;",
    "INSERT INTO e VALUES (10 + p, 7, 3, false) ON CONFLICT (b) DO UPDATE SET n = e.n + 10;",
    "INSERT INTO e VALUES (10 + p, 7, 4, true) ON CONFLICT (b) WHERE gone DO UPDATE SET n = e.n + "
    "100;",
    "UPDATE e SET gone = NOT gone;",
    "DELETE FROM e WHERE id = 1;",
};

class ArbitersLive : public BodiesLive {
 protected:
  ArbitersLive() : BodiesLive({kArbiterSchema, kArbiterBodies}) {}
};

TEST_P(ArbitersLive, EachAloneDoesWhatTheServerDoes) { compare_each(); }

TEST_P(ArbitersLive, PairsEndAsExploreSays) { compare_pairs(0, kArbiterBodies.size(), 23, 40); }

INSTANTIATE_TEST_SUITE_P(Levels, ArbitersLive, kBothLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
