-- An expression with a subquery left ROW_COUNT as it was; the server runs a query for it, of one row.
-- run: isoscope explore FILE --level pg-rc
-- exit: 1
--
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 1
-- says: lost update

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; y int;
BEGIN
  DELETE FROM t WHERE id = 99;
  x := (SELECT count(*) FROM t);
  GET DIAGNOSTICS y = ROW_COUNT;
  IF y = 0 THEN PERFORM 1 FROM t WHERE id = 2 FOR UPDATE; END IF;
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
