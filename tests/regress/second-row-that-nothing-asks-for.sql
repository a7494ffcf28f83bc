-- The subquery has two rows, and CASE does not ask for it: no error (21000) on the server.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: a second row of this subquery is an error only where the server asks for it
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 5), (2, 6);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  SELECT CASE WHEN id = 1 THEN 0 ELSE (SELECT v FROM t) END INTO x FROM t WHERE id = 1;
  RETURN x;
END $$;
-- session s1: f()
