-- -2::bigint was an integer again, so that 2147483647 * -2::bigint failed with 22003; and
-- -1::smallint was one too, so that -32768 divided by it did not.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says: result = -4294967294
-- says: b[1] aborts (22003

CREATE TABLE t (id integer PRIMARY KEY, i integer, s smallint);
CREATE FUNCTION wide() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE x bigint;
BEGIN
  SELECT i * -2::bigint INTO x FROM t WHERE id = 1;
  RETURN x;
END; $$;
CREATE FUNCTION narrow() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE x bigint;
BEGIN
  SELECT s / -1::smallint INTO x FROM t WHERE id = 1;
  RETURN x;
END; $$;
INSERT INTO t VALUES (1, 2147483647, -32768);
-- session a: wide()
-- session b: narrow()
