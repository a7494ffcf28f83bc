-- A function that owes a value and ended without RETURN gave NULL; the server fails with 2F005.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION f(p int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF p > 1 THEN RETURN 1; END IF;
END $$;
CREATE FUNCTION g(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM f(p);
EXCEPTION WHEN SQLSTATE '2F005' THEN
  UPDATE t SET v = 5 WHERE id = 1;
END $$;
-- session s: g(1)
-- assert SELECT v = 5 FROM t WHERE id = 1
