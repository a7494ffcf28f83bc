-- False advice: FOR UPDATE in a subquery that the planner drops, because it knows p.
-- run: isoscope audit FILE --level pg-rc --advise
-- exit: 1
-- says: levels that keep every execution serializable
-- says not: FOR UPDATE
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, k int NOT NULL);
INSERT INTO t VALUES (1, 0, 1), (2, 0, 1), (3, 0, 2);
CREATE TABLE s (id int PRIMARY KEY, w int NOT NULL);
INSERT INTO s VALUES (1, 0), (2, 0);
CREATE FUNCTION f(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; y int; r record; b boolean;
BEGIN
  b := (SELECT v FROM t WHERE id = p) >= 0 OR p > 0;
  SELECT v INTO x FROM t WHERE id = p;
  UPDATE t SET v = x + 1 WHERE id = p;
  RETURN x;
END $$;
