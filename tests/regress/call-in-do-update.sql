-- False proof: without a conflict nothing of DO UPDATE is computed.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: inside of a statement with a query of its own, or perhaps not
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, k int NOT NULL);
INSERT INTO t VALUES (1, 0, 1), (2, 0, 1), (3, 0, 2);
CREATE TABLE s (id int PRIMARY KEY, w int NOT NULL);
INSERT INTO s VALUES (1, 0), (2, 0);
CREATE FUNCTION lk(q int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN SELECT v INTO x FROM t WHERE id = q FOR UPDATE; RETURN x; END $$;
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; y int; b boolean; r record; a int[];
BEGIN
  INSERT INTO s VALUES (50, 2) ON CONFLICT (id) DO UPDATE SET w = lk(2); DELETE FROM s WHERE id = 50;
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
