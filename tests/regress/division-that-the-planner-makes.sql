-- The planner computes 1 / p, though no row asks for it; the call was said to commit.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: s1[1] aborts (22012
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 1 / p WHERE id = 99;
END $$;
-- session s1: f(0)
