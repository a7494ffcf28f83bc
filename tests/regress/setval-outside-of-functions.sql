-- SELECT setval(…) outside of functions was passed over: the next number was the wrong one.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 1
-- says: id = 11

CREATE TABLE t (id serial PRIMARY KEY, v int);
INSERT INTO t VALUES (1, 1), (2, 2);
SELECT setval('t_id_seq', 10);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN INSERT INTO t (v) VALUES (7) RETURNING id INTO x; RETURN x; END $$;
-- session a: f()
-- assert SELECT max(id) = 3 FROM t
