-- The variable was taken in silence, and explore called complete what fails with 42702 on the
-- server: there the name of a table that the statement reads stands for its whole row.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: 't' is a table of the statement and a variable: the server refuses the statement (42702)
CREATE TABLE t (id int PRIMARY KEY, c int NOT NULL);
CREATE TABLE u (id int PRIMARY KEY, d int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION table_and_variable(t int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET c = t WHERE id = 1;
END $$;
-- session s1: table_and_variable(1)
