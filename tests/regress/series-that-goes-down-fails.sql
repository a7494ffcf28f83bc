-- generate_series with a negative step failed, and so did one with a NULL and unnest of NULL, which
-- have no rows.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  SELECT sum(g) INTO x FROM generate_series(5, p, -2) g;
  UPDATE t SET v = x WHERE id = 1;
  SELECT count(*) INTO x FROM generate_series(1, NULLIF(p, p)) g;
  SELECT count(*) + x INTO x FROM unnest(NULL::int[]) g;
  UPDATE t SET v = v + x WHERE id = 1;
END $$;
-- session s: f(1)
-- assert SELECT v = 9 FROM t WHERE id = 1
