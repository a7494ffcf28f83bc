-- False "all assertions hold": INTO takes one row, and the subquery runs for that one only.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: the server locks only as many rows of this subquery as it asks for, or none
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; b boolean;
BEGIN
  SELECT z.v INTO x FROM t a, LATERAL (SELECT b.v FROM t b WHERE b.id = a.id FOR UPDATE) z ORDER BY a.id;
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
CREATE FUNCTION inc2(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
  SELECT v INTO x FROM t WHERE id = 2 FOR UPDATE;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: inc2(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
