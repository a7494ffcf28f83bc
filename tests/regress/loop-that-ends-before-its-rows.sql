-- False proof: the server fetches ten rows first, and locks no row that the loop does not come to.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: the server may not lock all rows of this loop
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, k int NOT NULL);
INSERT INTO t VALUES (1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1), (5, 0, 1), (6, 0, 1), (7, 0, 1), (8, 0, 1), (9, 0, 1), (10, 0, 1), (11, 0, 1), (12, 0, 1), (13, 0, 1);
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; y int; b boolean; r record; a int[];
BEGIN
  FOR r IN SELECT id FROM t ORDER BY id FOR UPDATE LOOP EXIT; END LOOP;
  SELECT v INTO x FROM t WHERE id = 11;
  UPDATE t SET v = x + 1 WHERE id = 11;
  RETURN x;
END $$;
CREATE FUNCTION inc2(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
  SELECT v INTO x FROM t WHERE id = 11 FOR UPDATE;
  UPDATE t SET v = x + 1 WHERE id = 11;
  RETURN x;
END $$;
-- session a: inc2(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 11
