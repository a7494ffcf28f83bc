-- An error inside of a statement had no SQLSTATE.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 22012 division by zero

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 7);
CREATE FUNCTION f(k int, x int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v / x WHERE id = k;
END $$;
-- session a: f(1, 0)
