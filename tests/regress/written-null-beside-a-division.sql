-- The planner makes NULL of what stands beside a written NULL, false of AND beside a written false,
-- and computes nothing else; here the call ended with a division by zero instead.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id int PRIMARY KEY, c int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION f(n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v int;
BEGIN
  v := NULL + 1 / n;
  IF v IS NULL AND (1 / n > 0 AND false) IS NOT NULL AND (NULL = 1 / n) IS NULL THEN
    UPDATE t SET c = 7 WHERE id = 1;
  END IF;
END $$;
-- session s1: f(0)
-- assert SELECT c = 7 FROM t WHERE id = 1
