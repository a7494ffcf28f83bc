-- A numeric of more than 38 digits, a limit of ours and none of the server, ended the call like an
-- error of SQL: handlers caught it, and explore was complete with ends that the server does not have.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 3
-- says: line 19: a numeric needs more than 38 digits
-- says not: all assertions hold
-- run: isoscope run FILE --store weak --level pg-rc
-- exit: 3
-- says: more than 38 digits
-- run: sed 's/1: square/1: assign/' FILE > TEMP/assign.sql && isoscope explore TEMP/assign.sql
-- exit: 3
-- says: more than 38 digits

CREATE TABLE t (id int PRIMARY KEY, v numeric NOT NULL);
INSERT INTO t VALUES (1, 99999999999999999999.5);

CREATE FUNCTION square() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v * v WHERE id = 1;
  UPDATE t SET v = 1 WHERE id = 1 AND v > 2;
EXCEPTION WHEN OTHERS THEN
  UPDATE t SET v = 0 WHERE id = 1;
END $$;

CREATE FUNCTION assign() RETURNS void LANGUAGE plpgsql AS $$
DECLARE x numeric;
BEGIN
  SELECT v INTO x FROM t WHERE id = 1;
  x := x * x;
  UPDATE t SET v = 1 WHERE id = 1 AND x > 2;
EXCEPTION WHEN OTHERS THEN
  UPDATE t SET v = 0 WHERE id = 1;
END $$;

-- session s1: square()
-- assert SELECT v < 2 FROM t
