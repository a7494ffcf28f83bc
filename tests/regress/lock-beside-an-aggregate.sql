-- The server refuses FOR UPDATE beside an aggregate (0A000); calls were said to lose updates.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: the server refuses FOR UPDATE and FOR SHARE beside DISTINCT and aggregates
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  SELECT count(*) INTO x FROM t FOR UPDATE;
  RETURN x;
END $$;
-- session s1: f()
