-- The server asks the cheaper condition first, whatever comes first in the text: f fails there with
-- 22012, and g does not.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: the server may compute what can fail here before the other conditions
CREATE TABLE t (id int PRIMARY KEY, d int NOT NULL, v int);
INSERT INTO t VALUES (1, 0, 0), (2, 2, 0);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 1 WHERE d + 0 + 0 <> 0 AND 10 / d > 0;
END $$;
CREATE FUNCTION g(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 2 WHERE 10 / d > 0 AND d <> 0;
END $$;
-- session s: f(1); g(1)
-- assert SELECT v = 1 FROM t WHERE id = 2
