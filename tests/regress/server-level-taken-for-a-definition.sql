-- READ COMMITTED of a server on SQL was executed as the definition rc, which is something else.
-- run: isoscope explore FILE --level "read committed"
-- exit: 0
-- says: at pg-rc: 2 histories
-- run: isoscope run FILE --store weak --level serializable
-- exit: 0
-- says: postgres at pg-ser
-- run: isoscope explore FILE --level "read committed" --server formal
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
