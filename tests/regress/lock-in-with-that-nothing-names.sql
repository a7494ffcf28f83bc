-- False proof: a query of WITH that nothing names is not run, and locks nothing.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: the server locks only as many rows of this subquery as it asks for, or none
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; b boolean;
BEGIN
  WITH z AS (SELECT v FROM t WHERE id = 2 FOR UPDATE) SELECT 3 INTO x;
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
