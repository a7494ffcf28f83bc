-- BETWEEN SYMMETRIC went from the least of its ends to the greatest, which pass over a NULL: on the
-- server x BETWEEN SYMMETRIC NULL AND 1 is NULL where x is no more than 1.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t VALUES (1, -4), (2, 3);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET n = 9 WHERE n NOT BETWEEN SYMMETRIC p AND 1;
  UPDATE t SET n = 8 WHERE id = 2 AND n BETWEEN SYMMETRIC 5 AND 1;
END $$;
-- session s: f(NULL)
-- assert SELECT n = -4 FROM t WHERE id = 1
-- assert SELECT n = 8 FROM t WHERE id = 2
