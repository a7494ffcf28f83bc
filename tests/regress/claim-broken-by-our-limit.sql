-- A claim whose query needs a numeric of more than 38 digits, which the server has, was broken.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: line 17: a numeric needs more than 38 digits
-- says not: fails
-- run: isoscope run FILE --store weak --level pg-rc
-- exit: 3
-- says: more than 38 digits

CREATE TABLE t (id int PRIMARY KEY, v numeric NOT NULL);
INSERT INTO t VALUES (1, 99999999999999999999.5);
CREATE FUNCTION keep() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v WHERE id = 1;
END $$;
-- session s1: keep()
-- invariant SELECT v * v > 0 FROM t
