-- A function that is STRICT took its lock also when it was called with NULL, where the server does not
-- execute it: the calls were proved serializable.
-- run: isoscope explore FILE --level pg-rc
-- exit: 1
-- says not: STRICT is ignored
--
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 1
-- says: lost update

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION lk(q int, z int) RETURNS int LANGUAGE sql STRICT AS $$ SELECT v FROM t WHERE id = q FOR UPDATE $$;
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; b boolean;
BEGIN
  x := lk(2, p);
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(NULL)
-- session b: bump(NULL)
-- assert SELECT v = 2 FROM t WHERE id = 2
