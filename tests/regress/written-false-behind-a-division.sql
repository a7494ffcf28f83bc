-- AND beside a written false is false before anything is computed, here it was a division by zero.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: the server computes none of this, as its value is written beside it
CREATE TABLE t (id int PRIMARY KEY, c int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION f(n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v int;
BEGIN
  IF 1 / n > 0 AND NOT true THEN
    UPDATE t SET c = 7 WHERE id = 1;
  END IF;
END $$;
-- session s1: f(0)
