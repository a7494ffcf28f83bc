-- False proof: the function that would raise is not called, and both calls commit.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: inside of a statement with a query of its own, or perhaps not
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION no(q int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'no'; RETURN 1; END $$;
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
  PERFORM 1 FROM no(p) LIMIT 0;
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT v = 0 FROM t WHERE id = 2
