-- The column was taken in silence, and explore called complete what fails with 42702 on the server.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: 'v' is a column and a variable: the server refuses the statement (42702)
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v int;
BEGIN
  SELECT v INTO v FROM t WHERE id = p;
END $$;
-- session s1: f(1)
