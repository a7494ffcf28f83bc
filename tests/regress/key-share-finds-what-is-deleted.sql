-- At READ COMMITTED, SELECT … FOR KEY SHARE of a row that another call has deleted was taken for a
-- read of the snapshot, also where the call waits for the other one. The server looks again, and
-- finds nothing: look returns 0, as after drop_row.
-- run: isoscope audit FILE --cycle 2
-- exit: 3
-- says: at pg-rc: unknown
-- says not: anomaly

CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE FUNCTION look(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int; m int;
BEGIN
  SELECT count(*) INTO m FROM t WHERE id = k AND v < 0;
  SELECT id INTO n FROM t WHERE id = k FOR KEY SHARE;
  UPDATE t SET v = 1 WHERE id = k;
  IF FOUND AND n IS NOT NULL THEN RETURN 2; END IF;
  IF n IS NOT NULL THEN RETURN 1; END IF;
  RETURN 0;
END $$;
CREATE FUNCTION drop_row(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM t WHERE id = k;
END $$;
