-- The variables of FOR … IN SELECT kept their values where the query had no rows. The server sets
-- them to NULL.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t VALUES (1, 4);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v int := 7;
  r record;
BEGIN
  SELECT id, n INTO r FROM t;
  FOR v IN SELECT n FROM t WHERE id > 5 LOOP
    NULL;
  END LOOP;
  FOR r IN SELECT id, n FROM t WHERE id > 5 LOOP
    NULL;
  END LOOP;
  INSERT INTO t VALUES (2, coalesce(v, -1)), (3, coalesce(r.n, -2));
END $$;
-- session s: f()
-- assert SELECT n = -1 FROM t WHERE id = 2
-- assert SELECT n = -2 FROM t WHERE id = 3
