-- A value for a column that is GENERATED ALWAYS was taken, which the server refuses (428C9).
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 2
-- says: 428C9

CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int);
INSERT INTO t (v) VALUES (1);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (7, 1); UPDATE t SET id = 9 WHERE id = 1; RETURN 1; END $$;
-- session a: f()
