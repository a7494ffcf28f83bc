-- READ COMMITTED of a server on SQL was executed as the definition rc, which is something else.
-- run: isoscope explore FILE --level "read committed"
-- exit: 2
-- says: is what PostgreSQL does
-- run: isoscope run FILE --store weak --level serializable
-- exit: 2
-- says: is what PostgreSQL does
-- run: isoscope explore FILE --level ser
-- exit: 0

CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);
INSERT INTO t VALUES (1, 0);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v + 1 WHERE id = 1;
END; $$;
-- session a: f()
-- session b: f()
