-- False "all assertions hold": the server calls h for a row when the rows before it are there, so
-- that the second one has 3.
-- run: isoscope explore FILE
-- exit: 3
-- says: h(…) is called inside of a statement
CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO a VALUES (1, 0), (2, 0);
CREATE FUNCTION h(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN SELECT count(*) INTO n FROM a; RETURN n; END $$;
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN INSERT INTO a SELECT id + 10, h(id) FROM a; END $$;
-- session s: f()
-- assert SELECT max(v) = 2 FROM a
