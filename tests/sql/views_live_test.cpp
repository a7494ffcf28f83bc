// Changes of views, held against PostgreSQL.
#include <array>

#include "bodies_live.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kViewSchema = R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL DEFAULT 7, u int UNIQUE);
CREATE TABLE c (id int PRIMARY KEY, t int NOT NULL REFERENCES t (id) ON DELETE CASCADE, w int NOT NULL);
CREATE TABLE log (who int, no int, x int, PRIMARY KEY (who, no));
INSERT INTO t VALUES (1, 10, 1), (2, 20, 2);
INSERT INTO c VALUES (1, 2, 5), (2, 2, 7), (3, 1, 8);
CREATE VIEW tv AS SELECT id AS k, v FROM t WHERE v > 5;
CREATE VIEW tw (key, val, twice) AS SELECT x.k, x.v, x.v * 2 FROM tv AS x WHERE k < 30 ORDER BY v;
CREATE VIEW cv AS SELECT * FROM c WHERE w > 5;
CREATE FUNCTION on_t() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.v > 100 THEN RAISE EXCEPTION 'too much'; END IF;
  NEW.u := NEW.v;
  RETURN NEW;
END $$;
CREATE TRIGGER t_before BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION on_t();
)";
constexpr std::array kViewBodies = {
    "UPDATE tv SET v = v + 1 WHERE k = 1;",
    "UPDATE tv SET v = v - 10; IF FOUND THEN INSERT INTO log VALUES (p, 1, 1); END IF;",
    "UPDATE tw SET val = twice WHERE key = 1 RETURNING val + twice INTO x; "
    "INSERT INTO log VALUES (p, 1, coalesce(x, -1));",
    "DELETE FROM tw WHERE val > 15; GET DIAGNOSTICS x = ROW_COUNT; "
    "INSERT INTO log VALUES (p, 1, x);",
    "DELETE FROM tv WHERE tv.k = 1;",
    "INSERT INTO tv VALUES (10 + p, 3);",
    "INSERT INTO tv (k) VALUES (10 + p) RETURNING v INTO x; INSERT INTO log VALUES (p, 1, x);",
    "INSERT INTO tw (val, key) VALUES (10, 20 + p);",
    "INSERT INTO tw VALUES (20 + p, 10 + p);",
    "INSERT INTO tv SELECT 40 + id, w FROM cv;",
    "UPDATE tv AS y SET v = y.v + c.w FROM c WHERE c.t = y.k AND c.w > 6;",
    "DELETE FROM cv USING tv WHERE cv.t = tv.k AND tv.v > 10;",
    "UPDATE cv SET w = w - 2 WHERE t = (SELECT min(k) FROM tv);",
    "UPDATE t SET v = 12 - v / 2 WHERE id = 1;",
    "UPDATE t SET v = 2 WHERE id = 2;",
    "DELETE FROM t WHERE id = 1;",
    "UPDATE c SET w = 12 - w;",
    "INSERT INTO log SELECT p, key, twice FROM tw;",
    "FOR r IN UPDATE tw SET val = val + 50 RETURNING key, twice LOOP "
    "INSERT INTO log VALUES (p, r.key, r.twice); END LOOP;",
};

class ViewsLive : public BodiesLive {
 protected:
  ViewsLive() : BodiesLive({kViewSchema, kViewBodies}) {}
};

TEST_P(ViewsLive, EachAloneDoesWhatTheServerDoes) { compare_each(); }

TEST_P(ViewsLive, PairsEndAsExploreSays) { compare_pairs(0, kViewBodies.size(), 29, 40); }

INSTANTIATE_TEST_SUITE_P(Levels, ViewsLive, kBothLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
