-- PERFORM f(…) WHERE … called the function whatever the condition says.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: whether bump is called here is not known

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION bump(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v + 1 WHERE id = p;
END $$;
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump(1) WHERE p > 1;
END $$;
-- session s: f(1)
