-- The tree of a body knows lines only. A block that is declared on the line of the BEGIN around it
-- lost its variables to that one, so that they kept their values from round to round.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: which block this line declares its variables in is not understood
CREATE TABLE t (id int PRIMARY KEY, n int);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN FOR i IN 1..2 LOOP DECLARE z int := 5; BEGIN z := z + i; INSERT INTO t VALUES (i, z); END; END LOOP;
END $$;
-- session s: f()
-- assert SELECT n = 7 FROM t WHERE id = 2
