-- The arguments of RAISE NOTICE were not evaluated: the lock that a subquery takes there was missing, and
-- a lost update was shown that the server does not allow.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; b boolean;
BEGIN
  RAISE NOTICE '%', (SELECT v FROM t WHERE id = 2 FOR UPDATE);
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
