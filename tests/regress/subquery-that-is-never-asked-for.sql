-- Subqueries behind AND, OR, CASE and COALESCE ran though what stands before them decides: here they
-- divided by zero; on the server they do not run.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO t VALUES (1, 5), (2, 6);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  k int;
BEGIN
  IF p <> 0 AND (SELECT n / p FROM t WHERE id = 1) > 3 THEN
    UPDATE t SET n = 9 WHERE id = 2;
  END IF;
  IF p = 0 OR (SELECT n / p FROM t WHERE id = 1) > 3 THEN
    UPDATE t SET n = 7 WHERE id = 2;
  END IF;
  k := CASE WHEN p = 0 THEN COALESCE(p + 1, (SELECT n / p FROM t WHERE id = 1))
            WHEN (SELECT n / p FROM t WHERE id = 2) = 1 THEN 2
            ELSE (SELECT n / p FROM t WHERE id = 1) END;
  UPDATE t SET n = k WHERE id = 1;
END $$;
-- session s1: f(0)
-- assert SELECT n = 1 FROM t WHERE id = 1
-- assert SELECT n = 7 FROM t WHERE id = 2
