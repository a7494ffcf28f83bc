-- The options of a sequence lost their signs, which the JSON of the parser leaves out: the sequence grew.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE SEQUENCE s INCREMENT BY -1;
CREATE SEQUENCE u START WITH -5 MINVALUE -10;
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ DECLARE a int; b int; c int; BEGIN a := nextval('s'); b := nextval('s'); c := nextval('u'); INSERT INTO t VALUES (a, b); INSERT INTO t VALUES (c, 0); END $$;
-- session s1: f()
-- assert SELECT count(*) = 1 FROM t WHERE id = -1 AND v = -2
-- assert SELECT count(*) = 1 FROM t WHERE id = -5
