-- A NULL in the key was noticed before a value that does not fit its column, which the server
-- computes first: no handler catches it.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v varchar(3), n int);
INSERT INTO t VALUES (1, 'x', 0);
CREATE FUNCTION f(p int, q text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (p, q, 1);
EXCEPTION
  WHEN not_null_violation THEN
    UPDATE t SET n = 1;
END $$;
-- session s: f(NULL, 'abcd')
-- assert SELECT n = 0 FROM t
