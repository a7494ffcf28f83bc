-- False anomaly: IN locks rows that do not match as well, here no row was locked.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: IN (SELECT … FOR UPDATE) locks rows that do not match, too
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (2, 0);
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; b boolean;
BEGIN
  b := 1 IN (SELECT id FROM t FOR UPDATE);
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
