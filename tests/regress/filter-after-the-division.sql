-- The argument of an aggregate was computed before FILTER left the row out: a division by zero that
-- the server never makes.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, d int NOT NULL);
INSERT INTO t VALUES (1, 5, 0), (2, 6, 2);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  k int;
BEGIN
  SELECT sum(n / d) FILTER (WHERE d <> 0) INTO k FROM t;
  UPDATE t SET n = k WHERE id = 1;
END $$;
-- session s1: f()
-- assert SELECT n = 3 FROM t WHERE id = 1
