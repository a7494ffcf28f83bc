-- False proof: the condition is false before the function is called, so that it locks nothing.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: inside of a statement with a query of its own, or perhaps not
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 1), (2, 1);
CREATE FUNCTION lk(q int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE z int;
BEGIN SELECT v INTO z FROM t WHERE id = q FOR UPDATE; RETURN z; END $$;
CREATE FUNCTION off(mine int, other int, p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
  PERFORM 1 FROM lk(other) WHERE p > 5;
  SELECT v INTO x FROM t WHERE id = other;
  IF x = 1 THEN UPDATE t SET v = 0 WHERE id = mine; END IF;
  RETURN x;
END $$;
-- session a: off(1, 2, 1)
-- session b: off(2, 1, 1)
-- assert SELECT sum(v) >= 1 FROM t
