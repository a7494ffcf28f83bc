-- A call that NOWAIT ends (55P03) has done nothing. It counted as one that no serial order has, so that
-- a lock that is right was called unserializable.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 55P03
-- says not: no serial order
-- run: isoscope run FILE --store weak --level pg-rc --runs 20
-- exit: 0

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0);
CREATE FUNCTION add(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT v INTO n FROM t WHERE id = k FOR UPDATE NOWAIT;
  UPDATE t SET v = n + 1 WHERE id = k;
  RETURN n;
END $$;
-- session a: add(1)
-- session b: add(1)
