-- 2 * 3 is computed by the planner and cannot fail: it keeps nobody from folding AND false.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: s[1] commits: result = false
CREATE TABLE t (id int PRIMARY KEY);
CREATE FUNCTION f(n int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN 1 / n = 2 * 3 AND false;
END $$;
-- session s: f(0)
