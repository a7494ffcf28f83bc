-- The planner makes NULL of what stands beside a written NULL, and computes nothing else; here the
-- call ended with a division by zero instead. Such expressions are refused.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: the server computes none of this, as its value is written beside it
CREATE TABLE t (id int PRIMARY KEY, c int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION f(n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v int;
BEGIN
  v := NULL + 1 / n;
  UPDATE t SET c = 7 WHERE id = 1 AND v IS NULL;
END $$;
-- session s1: f(0)
