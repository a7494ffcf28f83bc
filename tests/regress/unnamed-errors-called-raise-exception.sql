-- Errors of FOR with a NULL bound, of FOREACH over NULL and of a negative LIMIT had no SQLSTATE, and a
-- handler of raise_exception caught them.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION f0(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  FOR i IN 1 .. p LOOP NULL; END LOOP;
EXCEPTION
  WHEN raise_exception THEN UPDATE t SET v = -1 WHERE id = 1;
  WHEN SQLSTATE '22004' THEN UPDATE t SET v = v + 1 WHERE id = 1;
END $$;
CREATE FUNCTION f1(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  FOR i IN 1 .. 3 BY 0 LOOP NULL; END LOOP;
EXCEPTION
  WHEN raise_exception THEN UPDATE t SET v = -1 WHERE id = 1;
  WHEN SQLSTATE '22023' THEN UPDATE t SET v = v + 1 WHERE id = 1;
END $$;
CREATE FUNCTION f2(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  FOREACH x IN ARRAY NULL::int[] LOOP NULL; END LOOP;
EXCEPTION
  WHEN raise_exception THEN UPDATE t SET v = -1 WHERE id = 1;
  WHEN SQLSTATE '22004' THEN UPDATE t SET v = v + 1 WHERE id = 1;
END $$;
CREATE FUNCTION f3(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  SELECT v INTO x FROM t ORDER BY id LIMIT -1;
EXCEPTION
  WHEN raise_exception THEN UPDATE t SET v = -1 WHERE id = 1;
  WHEN SQLSTATE '2201W' THEN UPDATE t SET v = v + 1 WHERE id = 1;
END $$;
CREATE FUNCTION f4(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  SELECT v INTO x FROM t ORDER BY id OFFSET COALESCE(p, -1);
EXCEPTION
  WHEN raise_exception THEN UPDATE t SET v = -1 WHERE id = 1;
  WHEN SQLSTATE '2201X' THEN UPDATE t SET v = v + 1 WHERE id = 1;
END $$;
-- session s: f0(NULL); f1(NULL); f2(NULL); f3(NULL); f4(NULL)
-- assert SELECT v = 5 FROM t WHERE id = 1
