-- The field of the record and the column of the alias have one name: the server refuses.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: 'r.id' is a column and a variable: the server refuses the statement (42702)
CREATE TABLE t (id int PRIMARY KEY, c int NOT NULL);
CREATE TABLE u (id int PRIMARY KEY, d int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION alias_and_record() RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record; v int;
BEGIN
  SELECT id, c INTO r FROM t WHERE id = 1;
  SELECT r.c INTO v FROM t r WHERE r.id = 1;
END $$;
-- session s1: alias_and_record()
