// What statements of PL/pgSQL do besides their work, held against PostgreSQL: FOUND and ROW_COUNT,
// calls of STRICT functions, the arguments of RAISE, and the codes of errors.
#include <array>

#include "bodies_live.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kPlpgsqlSchema = R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 5), (2, 6), (3, 7);
CREATE TABLE log (who int, no int, x int, PRIMARY KEY (who, no));
CREATE FUNCTION same(q int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN q; END $$;
CREATE FUNCTION nothing(q int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  UPDATE t SET v = v + 1 WHERE id = q; IF NOT FOUND THEN INSERT INTO log VALUES (q, 9, 9); END IF;
END $$;
CREATE FUNCTION rows_above(q int) RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN
  RETURN QUERY SELECT v FROM t WHERE id > q; END $$;
CREATE FUNCTION counted(q int) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE n int; BEGIN
  RETURN QUERY SELECT v FROM t WHERE id > q; GET DIAGNOSTICS n = ROW_COUNT; RETURN NEXT n; END $$;
CREATE FUNCTION locked(q int, z int) RETURNS int LANGUAGE sql STRICT AS $$
  SELECT v FROM t WHERE id = q FOR UPDATE $$;
CREATE FUNCTION known(q int, z int) RETURNS int LANGUAGE plpgsql STRICT AS $$ BEGIN
  INSERT INTO log VALUES (q, z, 4); RETURN q + z; END $$;
CREATE FUNCTION known_rows(q int) RETURNS SETOF int LANGUAGE plpgsql STRICT AS $$ BEGIN
  RETURN NEXT 1; RETURN NEXT q; END $$;
CREATE FUNCTION perhaps(q int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  IF q > 1 THEN RETURN 1; END IF; END $$;
CREATE FUNCTION looped(q int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  LOOP IF q > 1 THEN RETURN 1; ELSE EXIT; END IF; END LOOP; END $$;
)";
constexpr std::array kPlpgsqlBodies = {
    // FOUND and ROW_COUNT
    "PERFORM same(p); IF FOUND THEN INSERT INTO log VALUES (p, 1, 1); END IF;",
    "UPDATE t SET v = 1 WHERE id = 99; x := same(p); IF FOUND THEN INSERT INTO log VALUES (p, 1, "
    "1); END IF;",
    "PERFORM nothing(99); GET DIAGNOSTICS x = ROW_COUNT; IF FOUND THEN INSERT INTO log VALUES (p, "
    "1, x); END IF;",
    "PERFORM rows_above(p + 1); GET DIAGNOSTICS x = ROW_COUNT; IF FOUND THEN INSERT INTO log "
    "VALUES (p, "
    "1, x); END IF;",
    "PERFORM rows_above(9); IF FOUND THEN INSERT INTO log VALUES (p, 1, 1); ELSE INSERT INTO log "
    "VALUES "
    "(p, 1, 0); END IF;",
    "SELECT sum(c) INTO x FROM counted(p) AS s (c); INSERT INTO log VALUES (p, 1, x);",
    "GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO log VALUES (p, 1, x);",
    "DELETE FROM t WHERE id = 99; x := (SELECT count(*) FROM t); GET DIAGNOSTICS x = ROW_COUNT; "
    "INSERT INTO log VALUES (p, 1, x);",
    "UPDATE t SET v = v + 1 WHERE id < 3; x := p + 1; GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO "
    "log VALUES (p, 1, x);",
    "UPDATE t SET v = v + 1 WHERE id < 3; IF EXISTS (SELECT 1 FROM t WHERE id = 1) THEN GET "
    "DIAGNOSTICS x = ROW_COUNT; INSERT INTO log VALUES (p, 1, x); END IF;",
    "UPDATE t SET v = v WHERE id = 1; BEGIN SELECT v INTO STRICT x FROM t WHERE id = 99; EXCEPTION "
    "WHEN no_data_found THEN GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO log VALUES (p, x, "
    "FOUND::int); END;",
    "BEGIN SELECT v INTO STRICT x FROM t; EXCEPTION WHEN too_many_rows THEN GET DIAGNOSTICS x = "
    "ROW_COUNT; INSERT INTO log VALUES (p, x, FOUND::int); END;",
    // STRICT
    "x := locked(1, p); UPDATE t SET v = COALESCE(x, 0) + 1 WHERE id = 2;",
    "x := locked(1, NULL); UPDATE t SET v = COALESCE(x, 0) + 1 WHERE id = 2;",
    "x := NULLIF(p, 1); x := known(p, x); INSERT INTO log VALUES (p, 5, x);",
    "x := NULLIF(p, 1); SELECT count(*) INTO x FROM known_rows(x) k; INSERT INTO log VALUES (p, 5, "
    "x);",
    "UPDATE t SET v = 1 WHERE id = 99; PERFORM known(p, NULL::int); IF FOUND THEN INSERT INTO log "
    "VALUES (p, 5, 1); END IF;",
    // RAISE and ASSERT
    "RAISE NOTICE '%', 1 / (p - 1); INSERT INTO log VALUES (p, 1, 1);",
    "RAISE DEBUG '% %', p, (SELECT v FROM t WHERE id = 1 FOR UPDATE); UPDATE t SET v = v + 1 WHERE "
    "id = 2;",
    "RAISE EXCEPTION '%', 1 / (p - p);",
    "RAISE INFO '%', p USING HINT = NULL::text;",
    "SELECT * INTO r FROM t WHERE id = 1; RAISE NOTICE '% %', r, r.v / p; INSERT INTO log VALUES "
    "(p, 1, 1);",
    "BEGIN RAISE EXCEPTION '%', 1 / (p - p); EXCEPTION WHEN division_by_zero THEN INSERT INTO log "
    "VALUES (p, 1, 1); END;",
    "BEGIN ASSERT p = 9, 'a' || 1 / (p - p); EXCEPTION WHEN division_by_zero THEN INSERT INTO log "
    "VALUES (p, 1, 1); END;",
    "BEGIN ASSERT p = 9; EXCEPTION WHEN OTHERS THEN INSERT INTO log VALUES (p, 1, 1); END;",
    "BEGIN ASSERT p = 9; EXCEPTION WHEN assert_failure THEN INSERT INTO log VALUES (p, 1, 1); END;",
    "BEGIN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; EXCEPTION WHEN OTHERS THEN INSERT "
    "INTO log VALUES (p, 1, 1); END;",
    "BEGIN RAISE locator_exception; EXCEPTION WHEN SQLSTATE '0F000' THEN INSERT INTO log VALUES "
    "(p, 1, 1); END;",
    // Codes
    "x := perhaps(p); INSERT INTO log VALUES (p, 1, x);",
    "BEGIN x := perhaps(1); EXCEPTION WHEN SQLSTATE '2F005' THEN INSERT INTO log VALUES (p, 1, 1); "
    "END;",
    "x := looped(p); INSERT INTO log VALUES (p, 1, x);",
    "DECLARE q int NOT NULL := p; BEGIN q := NULLIF(p, 1); INSERT INTO log VALUES (p, 1, q); END;",
    "DECLARE q int NOT NULL := p; BEGIN q := NULL; EXCEPTION WHEN null_value_not_allowed THEN "
    "INSERT INTO log VALUES (p, 1, q); END;",
    "DECLARE q int NOT NULL := p; BEGIN SELECT v INTO q FROM t WHERE id = p + 1; INSERT INTO log "
    "VALUES (p, 1, q); SELECT v INTO q FROM t WHERE id = 99; END;",
    "FOR i IN 1 .. NULLIF(p, p) LOOP NULL; END LOOP;",
    "FOR i IN 1 .. 3 BY p - p LOOP NULL; END LOOP;",
    "BEGIN FOREACH x IN ARRAY NULL::int[] LOOP NULL; END LOOP; EXCEPTION WHEN raise_exception THEN "
    "INSERT INTO log VALUES (p, 1, 1); END;",
    "SELECT v INTO x FROM t ORDER BY id LIMIT p - 5;",
    "SELECT v INTO x FROM t ORDER BY id OFFSET p - 5;",
    "SELECT count(*) INTO x FROM (SELECT v FROM t LIMIT p - 5) s;",
    // Rows of functions of the server
    "SELECT sum(g) INTO x FROM generate_series(5, p, -2) g; INSERT INTO log VALUES (p, 1, x);",
    "SELECT count(*) INTO x FROM generate_series(1, NULLIF(p, p)) g; INSERT INTO log VALUES (p, 1, "
    "x);",
    "SELECT count(*) INTO x FROM unnest(NULL::int[]) g; INSERT INTO log VALUES (p, 1, x);",
    "INSERT INTO log VALUES (p, 1, 1), (p, 2, 2); GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO log "
    "VALUES (p, 3, x);",
    "UPDATE t SET v = v + 1 WHERE id = 1;",
    "UPDATE t SET v = v + 10 WHERE id IN (1, 2);",
};

class PlpgsqlLive : public BodiesLive {
 protected:
  PlpgsqlLive() : BodiesLive({.schema = kPlpgsqlSchema, .bodies = kPlpgsqlBodies}) {}
};

TEST_P(PlpgsqlLive, BodiesEndAsExploreSays) { compare_each(); }

TEST_P(PlpgsqlLive, PairsEndAsExploreSays) { compare_pairs(0, kPlpgsqlBodies.size(), 11, 25); }

INSTANTIATE_TEST_SUITE_P(Levels, PlpgsqlLive, kBothLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
