-- Sums had 64 bits whatever their operands were: runs in which the sum of two integers leaves its range
-- inside of a condition, where PostgreSQL ends the call with 22003, were shown as anomalies.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 22003
-- says: all assertions hold
-- run: isoscope audit FILE --level pg-rc --only lower_it --cycle 2
-- says not: anomaly
-- exit: 3
-- run: isoscope audit FILE --level pg-rc --only lower_wide --cycle 2
-- says: lost update
-- exit: 1

CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL);
INSERT INTO t VALUES (1, 2000000001, 2000000001);
CREATE FUNCTION lower_it(k int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE x int; y int;
BEGIN
  SELECT a, b INTO x, y FROM t WHERE id = k;
  IF x > 2000000000 AND y > 2000000000 AND x + y > 0 THEN
    UPDATE t SET a = x - 1 WHERE id = k;
  END IF;
END $$;
CREATE FUNCTION lower_wide(k int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE x bigint; y int;
BEGIN
  SELECT a, b INTO x, y FROM t WHERE id = k;
  IF x > 2000000000 AND y > 2000000000 AND x + y > 0 THEN
    UPDATE t SET a = x - 1 WHERE id = k;
  END IF;
END $$;
-- session a: lower_it(1)
-- session b: lower_it(1)
-- assert SELECT a = 2000000001 FROM t
