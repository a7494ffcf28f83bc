-- SERIALIZABLE ends statements with 40001, and not only commits: WHEN OTHERS catches it, and the
-- call goes on. Such ends were missing, and the answer was complete.
-- run: isoscope explore FILE --level pg-ser
-- exit: 3
-- says: catches 40001

-- run: isoscope explore FILE --level pg-rr
-- exit: 0

CREATE TABLE t (id integer PRIMARY KEY, v integer);
CREATE FUNCTION f(k integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer := 0;
BEGIN
  BEGIN
    SELECT sum(v) INTO x FROM t;
    UPDATE t SET v = x WHERE id = k;
  EXCEPTION WHEN OTHERS THEN x := -1;
  END;
  RETURN x;
END; $$;
INSERT INTO t VALUES (1, 0), (2, 0);
-- session a: f(1)
-- session b: f(2)
