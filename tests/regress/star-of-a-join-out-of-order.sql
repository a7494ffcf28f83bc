-- The columns of * were in the order of the tables. The server has those of USING first, and those of
-- a RIGHT JOIN in the order in which it is written. A column of USING was also looked for in tables
-- before the join.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE a (x int, id int PRIMARY KEY);
CREATE TABLE b (id int PRIMARY KEY, y int);
CREATE TABLE c (id int PRIMARY KEY);
CREATE TABLE seen (who text PRIMARY KEY, p int, q int, r int, s int);
INSERT INTO a VALUES (7, 1);
INSERT INTO b VALUES (1, 9), (2, 8);
INSERT INTO c VALUES (2);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  p int; q int; r int; s int;
BEGIN
  SELECT * INTO p, q, r FROM a JOIN b USING (id);
  INSERT INTO seen VALUES ('using', p, q, r);
  SELECT * INTO p, q, r FROM a NATURAL LEFT JOIN b;
  INSERT INTO seen VALUES ('natural', p, q, r);
  SELECT * INTO p, q, r, s FROM a RIGHT JOIN b ON a.id = b.id ORDER BY b.id DESC LIMIT 1;
  INSERT INTO seen VALUES ('right', p, q, r, s);
  SELECT * INTO p, q, r, s FROM c, a JOIN b USING (id);
  INSERT INTO seen VALUES ('beside', p, q, r, s);
END $$;
-- session a: f()
-- assert SELECT p = 1 AND q = 7 AND r = 9 FROM seen WHERE who IN ('using', 'natural')
-- assert SELECT p IS NULL AND q IS NULL AND r = 2 AND s = 8 FROM seen WHERE who = 'right'
-- assert SELECT p = 2 AND q = 1 AND r = 7 AND s = 9 FROM seen WHERE who = 'beside'
-- assert SELECT count(*) = 4 FROM seen
