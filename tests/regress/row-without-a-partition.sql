-- A row was inserted for which the table has no partition: the server says 23514.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 1
-- says: 23514

CREATE TABLE t (id int PRIMARY KEY, v int) PARTITION BY LIST (id);
CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1, 2);
INSERT INTO t VALUES (1, 1);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (3, 1); RETURN 1; END $$;
-- session a: f()
-- assert SELECT count(*) = 2 FROM t
