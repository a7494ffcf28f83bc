// The constructs of the front end, held against PostgreSQL: calls of functions that use them end on
// the server as explore says, alone and with another call in between.
#include <array>

#include "bodies_live.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kSchema = R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, u int UNIQUE);
CREATE TABLE c (id int PRIMARY KEY, t int NOT NULL REFERENCES t (id), w int NOT NULL);
CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL, m int NOT NULL DEFAULT 0, g int GENERATED ALWAYS AS (v * 2) STORED);
CREATE TABLE log (who int, no int, x int, PRIMARY KEY (who, no));
INSERT INTO t VALUES (1, 10, 1), (2, 20, 2);
INSERT INTO c VALUES (1, 2, 5), (2, 2, 7);
INSERT INTO a (id, v) VALUES (1, 3), (2, 4);
CREATE VIEW tv AS SELECT id, v FROM t WHERE v > 5;
CREATE VIEW tc AS SELECT t.id, count(c.id) AS n, coalesce(sum(c.w), 0) AS s FROM t LEFT JOIN c ON c.t = t.id GROUP BY t.id;
CREATE FUNCTION h_bump(k int, by int DEFAULT 2) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  UPDATE t SET v = v + by WHERE id = k RETURNING v INTO n;
  IF NOT FOUND THEN RETURN -1; END IF;
  RETURN n;
END $$;
CREATE FUNCTION h_sum() RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT sum(v) FROM t) - (SELECT count(*) FROM c);
END $$;
CREATE FUNCTION h_rows(low int) RETURNS TABLE (i int, j int) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT id, v FROM t WHERE v >= low ORDER BY id;
  i := 0; j := 0; RETURN NEXT;
END $$;
CREATE FUNCTION on_a() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.v > 100 THEN RAISE EXCEPTION 'too much'; END IF;
  NEW.m := NEW.m + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER a_before BEFORE INSERT OR UPDATE ON a FOR EACH ROW EXECUTE FUNCTION on_a();
CREATE FUNCTION after_a() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    UPDATE t SET v = v + NEW.v - OLD.v WHERE id = 2;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO log VALUES (99, OLD.id, OLD.v);
    RETURN OLD;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER a_after AFTER UPDATE OR DELETE ON a FOR EACH ROW EXECUTE FUNCTION after_a();
CREATE TABLE d (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO d VALUES (1, 3), (2, 9);
CREATE FUNCTION on_d() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.v > (SELECT count(*) FROM t) + 5 THEN RETURN NULL; END IF;
  UPDATE t SET v = v + OLD.v WHERE id = 1;
  RETURN OLD;
END $$;
CREATE TRIGGER d_before BEFORE DELETE ON d FOR EACH ROW EXECUTE FUNCTION on_d();
CREATE FUNCTION z_on_d() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (98, OLD.id, OLD.v);
  RETURN OLD;
END $$;
CREATE TRIGGER e_before BEFORE DELETE ON d FOR EACH ROW EXECUTE FUNCTION z_on_d();
CREATE TABLE w (id int PRIMARY KEY, k int, ready boolean NOT NULL, s smallint NOT NULL);
CREATE UNIQUE INDEX w_ready ON w (k) WHERE ready;
CREATE UNIQUE INDEX w_abs ON w (abs(s));
INSERT INTO w VALUES (1, 1, true, 150), (2, 1, false, 2);
CREATE TABLE z (id int PRIMARY KEY, m int, UNIQUE NULLS NOT DISTINCT (m));
INSERT INTO z VALUES (1, NULL), (2, 4);
CREATE DOMAIN few AS int CHECK (VALUE < 3);
CREATE TABLE y (id int PRIMARY KEY, n few NOT NULL);
INSERT INTO y VALUES (1, 1);
CREATE TABLE pa (id int PRIMARY KEY, v int NOT NULL DEFAULT 0);
CREATE TABLE ch (id int PRIMARY KEY, pa int REFERENCES pa ON DELETE CASCADE, v int NOT NULL);
CREATE TABLE gr (id int PRIMARY KEY, ch int REFERENCES ch ON DELETE SET NULL, pa int NOT NULL DEFAULT 3 REFERENCES pa (id) ON DELETE SET DEFAULT);
INSERT INTO pa VALUES (1), (2), (3);
INSERT INTO ch VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7);
INSERT INTO gr VALUES (1, 1, 2), (2, 3, 1), (3, NULL, 2);
CREATE FUNCTION after_ch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (97, OLD.id, OLD.v);
  RETURN NULL;
END $$;
CREATE TRIGGER ch_after AFTER DELETE ON ch FOR EACH ROW EXECUTE FUNCTION after_ch();
)";
// Bodies of functions of a number p, which is another one in each call.
constexpr std::array kBodies = {
    "INSERT INTO log SELECT p, id, n FROM tc;",
    "INSERT INTO log SELECT p, 1, sum(v) FROM tv;",
    "INSERT INTO log SELECT p, t.id, c.w FROM t LEFT JOIN c ON c.t = t.id AND c.w > 5;",
    "WITH x AS (UPDATE t SET v = v + 1 WHERE id = 1 RETURNING v) INSERT INTO log SELECT p, 1, v "
    "FROM x;",
    "WITH x AS (SELECT id FROM t WHERE v > 5 FOR UPDATE) UPDATE t SET v = v + 3 FROM x WHERE t.id "
    "= x.id;",
    "UPDATE t SET v = t.v + q.s FROM (SELECT t, sum(w) AS s FROM c GROUP BY t) q WHERE q.t = t.id;",
    "DELETE FROM c USING t WHERE c.t = t.id AND t.v > 10 AND c.w < 6;",
    "UPDATE t SET v = (SELECT count(*) FROM c WHERE c.t = t.id) WHERE id <= 2;",
    "UPDATE t SET v = v + 1 WHERE EXISTS (SELECT 1 FROM c WHERE c.t = t.id);",
    "INSERT INTO log SELECT p, id, v FROM t WHERE id IN (SELECT t FROM c) OR v < 15;",
    "INSERT INTO log SELECT p, id, v FROM t WHERE id NOT IN (SELECT ch FROM gr WHERE id <> 3);",
    "INSERT INTO log SELECT p, id, v FROM t WHERE id NOT IN (SELECT ch FROM gr);",
    "FOR r IN SELECT id, ch FROM gr LOOP INSERT INTO log VALUES (p, r.id, CASE WHEN r.ch IN "
    "(SELECT "
    "ch FROM gr WHERE id < 3) THEN 1 WHEN r.ch NOT IN (SELECT ch FROM gr WHERE id < 3) THEN 2 ELSE "
    "3 END), (p, r.id + 10, CASE WHEN r.ch NOT IN (SELECT id FROM t WHERE v > 1000) THEN 4 ELSE 5 "
    "END), "
    "(p, r.id + 20, CASE WHEN (r.ch, 2) IN (SELECT ch, pa FROM gr) THEN 6 WHEN (r.ch, 2) NOT IN "
    "(SELECT "
    "ch, pa FROM gr WHERE pa = 1) THEN 7 ELSE 8 END); END LOOP;",
    "BEGIN INSERT INTO t VALUES (3, 1, 2); EXCEPTION WHEN unique_violation THEN "
    "INSERT INTO log VALUES (p, 1, -1); END;",
    "BEGIN INSERT INTO t VALUES (3, 1, 3); EXCEPTION WHEN unique_violation THEN "
    "INSERT INTO log VALUES (p, 1, -1); END;",
    "BEGIN UPDATE t SET v = v + 1 WHERE id = 1; RAISE EXCEPTION 'x'; EXCEPTION WHEN OTHERS THEN "
    "UPDATE t SET v = v + 5 WHERE id = 2; END;",
    "BEGIN INSERT INTO c VALUES (7, 9, 1); EXCEPTION WHEN foreign_key_violation THEN "
    "INSERT INTO log VALUES (p, 1, 23503); END;",
    "BEGIN SELECT v INTO STRICT x FROM t WHERE id = 9; EXCEPTION WHEN no_data_found THEN x := 4; "
    "END; "
    "INSERT INTO log VALUES (p, 1, x);",
    "PERFORM h_bump(1); INSERT INTO log VALUES (p, 2, h_bump(2, by => 5));",
    "INSERT INTO log VALUES (p, 1, h_sum());",
    "x := h_sum(); UPDATE t SET v = x WHERE id = 1;",
    "INSERT INTO log SELECT p, i, j FROM h_rows(15);",
    "FOR r IN UPDATE t SET v = v - 1 WHERE v > 3 RETURNING id, v LOOP "
    "INSERT INTO log VALUES (p, r.id, r.v); END LOOP;",
    "INSERT INTO log SELECT p, g, g * 2 FROM generate_series(1, 4) g WHERE NOT EXISTS "
    "(SELECT 1 FROM t WHERE t.id = g);",
    "INSERT INTO log SELECT p, e, count(*) FROM unnest(ARRAY[1, 2, 2]) e GROUP BY e;",
    "UPDATE a SET v = v + 1 WHERE id = 1;",
    "UPDATE a SET v = v + 99;",
    "INSERT INTO a (id, v) VALUES (5, 7); DELETE FROM a WHERE id = 2;",
    "DELETE FROM d WHERE id = 1; IF FOUND THEN INSERT INTO log VALUES (p, 1, 1); END IF;",
    "DELETE FROM d WHERE id = 2 AND v < 20 RETURNING v INTO x; INSERT INTO log VALUES (p, 1, "
    "coalesce(x, -1));",
    "UPDATE d SET v = 12 - v;",
    "UPDATE t SET v = v + 1 WHERE id = 1 AND v < h_sum();",
    "SELECT v INTO x FROM t WHERE id = 1 FOR UPDATE SKIP LOCKED; "
    "INSERT INTO log VALUES (p, 1, coalesce(x, -1));",
    "SELECT v INTO x FROM t WHERE id = 1 FOR UPDATE NOWAIT; UPDATE t SET v = x + 1 WHERE id = 1;",
    "SELECT * INTO r FROM t WHERE id = 1; r.v := r.v * 2; UPDATE t SET v = r.v WHERE id = 1;",
    "INSERT INTO log SELECT p, q.i, 1 FROM (SELECT id AS i FROM t UNION SELECT t FROM c) q;",
    "INSERT INTO log SELECT p, 1, cardinality(array_agg(id)) FROM t WHERE v > 5;",
    "UPDATE t SET (v, u) = (SELECT max(w), 50 FROM c WHERE c.t = 2) WHERE id = 1;",
    "INSERT INTO t VALUES (4, 1, 4), (5, 2, 5) ON CONFLICT DO NOTHING; GET DIAGNOSTICS x = "
    "ROW_COUNT; "
    "INSERT INTO log VALUES (p, 1, x);",
    "DELETE FROM c WHERE w = (SELECT max(w) FROM c); IF FOUND THEN UPDATE t SET v = v - 1 WHERE id "
    "= 2; END IF;",
    "INSERT INTO log SELECT DISTINCT ON (t) p, t, w FROM c ORDER BY t, w DESC;",
    "<<one>> BEGIN IF (SELECT v FROM t WHERE id = 1) > 5 THEN EXIT one; END IF; UPDATE t SET v = "
    "0; END;",
    "INSERT INTO log SELECT p, t.id, l.w FROM t CROSS JOIN LATERAL (SELECT c.w FROM c WHERE c.t = "
    "t.id ORDER BY c.w LIMIT 1) l;",
    // Indexes that are no plain keys, and what types hold.
    "INSERT INTO w VALUES (10 + p, 1, true, 30 + p);",
    "UPDATE w SET ready = NOT ready WHERE id = 1;",
    "UPDATE w SET ready = true WHERE id = 2;",
    "UPDATE w SET k = 5 WHERE ready;",
    "DELETE FROM w WHERE id = 1;",
    "INSERT INTO w VALUES (20 + p, 7, true, -2);",
    "UPDATE w SET s = s * 300 WHERE id = 1;",
    "INSERT INTO w VALUES (30 + p, 1, true, 40 + p) ON CONFLICT DO NOTHING;",
    "BEGIN UPDATE w SET ready = true WHERE id = 2; EXCEPTION WHEN unique_violation THEN "
    "INSERT INTO log VALUES (p, 1, 23505); END;",
    "INSERT INTO z VALUES (10 + p, NULL);",
    "UPDATE z SET m = NULL WHERE id = 2;",
    "DELETE FROM z WHERE id = 1;",
    "UPDATE y SET n = n + 1 WHERE id = 1;",
    "x := (SELECT v FROM t WHERE id = 1) * 400000000; INSERT INTO log VALUES (p, 1, 0);",
    "INSERT INTO log SELECT p, id, 0 FROM t WHERE v * 150000000 > 0;",
    "UPDATE t SET v = v + 1 WHERE v::bigint * 300000000 > 0;",
    "INSERT INTO log SELECT p, 1, sum(w) * 1000000000 / 100000000 FROM c;",
    // What foreign keys do ON DELETE.
    "DELETE FROM pa WHERE id = 1;",
    "DELETE FROM pa WHERE id < 3; IF FOUND THEN INSERT INTO log VALUES (p, 1, 1); END IF;",
    "BEGIN DELETE FROM pa WHERE id <> 2; EXCEPTION WHEN foreign_key_violation THEN "
    "INSERT INTO log VALUES (p, 1, 23503); END;",
    "INSERT INTO ch VALUES (10 + p, 1, 1);",
    "INSERT INTO gr VALUES (10 + p, 1, 2);",
    "UPDATE ch SET v = v + 1 WHERE pa = 1;",
    "UPDATE ch SET pa = 3 - pa WHERE id = 1;",
    "DELETE FROM ch WHERE id = 1; GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO log VALUES (p, 1, x);",
    "INSERT INTO log SELECT p, id, pa FROM gr; UPDATE pa SET v = v + 1 WHERE id = 1;",
    "DELETE FROM pa WHERE id = 2; INSERT INTO pa VALUES (2);",
    "DELETE FROM gr WHERE pa = 2; UPDATE gr SET ch = 2 WHERE id = 2;",
};
constexpr std::size_t kNumOnDelete = 11;
constexpr std::size_t kNumPlain = kBodies.size() - 17 - kNumOnDelete;

class ConstructsLive : public BodiesLive {
 protected:
  ConstructsLive() : BodiesLive({kSchema, kBodies}) {}
};

TEST_P(ConstructsLive, EachAloneDoesWhatTheServerDoes) { compare_each(); }

TEST_P(ConstructsLive, PairsEndAsExploreSays) { compare_pairs(0, kBodies.size(), 11, 40); }

TEST_P(ConstructsLive, PairsAtIndexesEndAsExploreSays) {
  compare_pairs(kNumPlain, kBodies.size() - kNumPlain - kNumOnDelete, 13, 20);
}

TEST_P(ConstructsLive, PairsOnDeleteEndAsExploreSays) {
  compare_pairs(kBodies.size() - kNumOnDelete, kNumOnDelete, 17, 30);
}

INSTANTIATE_TEST_SUITE_P(Levels, ConstructsLive, kBothLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
