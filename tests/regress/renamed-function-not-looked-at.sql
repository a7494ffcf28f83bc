-- False none: a function that ALTER FUNCTION renames was looked for under its old name, and left out without a word.
-- run: isoscope audit FILE --level pg-rc
-- exit: 1
-- says: lost update between 2 calls of g

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE FUNCTION f(x int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT v INTO n FROM t WHERE id = x;
  UPDATE t SET v = n + 1 WHERE id = x;
END $$;
ALTER FUNCTION f(int) RENAME TO g;
CREATE FUNCTION h(x int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 1 WHERE id = x;
END $$;
