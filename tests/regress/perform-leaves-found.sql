-- PERFORM of a function left FOUND and ROW_COUNT as they were, where the server sets them to true and
-- 1: the row was taken to be locked, and the calls were proved serializable.
-- run: isoscope explore FILE --level pg-rc
-- exit: 1
--
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 1
-- says: lost update

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION noop(q int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN q; END $$;
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
  PERFORM noop(p);
  IF NOT FOUND THEN PERFORM 1 FROM t WHERE id = 2 FOR UPDATE; END IF;
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
