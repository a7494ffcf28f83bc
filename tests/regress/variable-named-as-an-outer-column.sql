-- In a subquery the variable was taken before a column of the query around it; the server refuses.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: 'c' is a column and a variable: the server refuses the statement (42702)
CREATE TABLE t (id int PRIMARY KEY, c int NOT NULL);
CREATE TABLE u (id int PRIMARY KEY, d int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION outer_column_and_variable(c int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v int;
BEGIN
  SELECT id INTO v FROM t WHERE EXISTS (SELECT 1 FROM u WHERE d = c);
END $$;
-- session s1: outer_column_and_variable(1)
