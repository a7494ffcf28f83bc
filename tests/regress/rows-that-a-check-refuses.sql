-- False "observable": to make a difference visible, numbers of the rows at the start were changed
-- into ones that their CHECK refuses.
-- run: isoscope audit FILE
-- exit: 1
-- says: view-only: a serial order has the same results and final state
CREATE TABLE s (id int PRIMARY KEY, a int NOT NULL, c int NOT NULL CHECK (c <= 3));
CREATE TABLE u (id int PRIMARY KEY, b int NOT NULL, c int NOT NULL CHECK (c <= 3));
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
  SELECT b INTO x FROM u WHERE id = p;
  UPDATE s SET a = a + 1 + CASE WHEN c > 3 THEN x ELSE 0 END WHERE id = p;
END $$;
CREATE FUNCTION g(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE y int;
BEGIN
  SELECT a INTO y FROM s WHERE id = p;
  UPDATE u SET b = b + 1 + CASE WHEN c > 3 THEN y ELSE 0 END WHERE id = p;
END $$;
