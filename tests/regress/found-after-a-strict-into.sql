-- SELECT INTO STRICT without a row left FOUND true; the server sets it before it fails.
-- run: isoscope explore FILE --level pg-rc
-- exit: 1

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);

CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; b boolean; r record; a int[];
BEGIN
  BEGIN UPDATE t SET v = v WHERE id = 1; SELECT v INTO STRICT x FROM t WHERE id = 99; EXCEPTION WHEN no_data_found THEN IF FOUND THEN PERFORM 1 FROM t WHERE id = 2 FOR UPDATE; END IF; END;
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
