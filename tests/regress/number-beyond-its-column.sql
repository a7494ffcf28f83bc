-- Numbers had 64 bits whatever their type: explore let an integer overflow without 22003, and audit
-- showed a lost update of a smallint that was 40001 at the start.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 22003
-- says: all assertions hold
-- run: isoscope audit FILE --only lower_it --cycle 2
-- says not: anomaly
-- exit: 3

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w smallint NOT NULL);
INSERT INTO t VALUES (1, 2147483640, 0);
CREATE FUNCTION add(k int, x int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v + x WHERE id = k;
END $$;
CREATE FUNCTION lower_it(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT w INTO n FROM t WHERE id = k;
  IF n > 40000 THEN
    UPDATE t SET w = n - 40000 WHERE id = k;
  END IF;
  RETURN n;
END $$;
-- session a: add(1, 5)
-- session b: add(1, 5)
-- assert SELECT v < 2147483648 FROM t
