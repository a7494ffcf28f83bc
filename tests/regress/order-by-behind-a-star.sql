-- ORDER BY of a number, or of a name behind a *, sorted by another column: a * counted as one column.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int, w int);
CREATE TABLE u (id int PRIMARY KEY, t int);
CREATE TABLE seen (who text PRIMARY KEY, id int);
INSERT INTO t VALUES (1, 20, 7), (2, 10, 9), (3, 30, 8);
INSERT INTO u VALUES (1, 3), (2, 1), (3, 2);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  SELECT t.*, 100 - v AS n INTO r FROM t ORDER BY n LIMIT 1;
  INSERT INTO seen VALUES ('name', r.id);
  SELECT *, w AS n INTO r FROM t ORDER BY 3 DESC LIMIT 1;
  INSERT INTO seen VALUES ('number', r.id);
  SELECT * INTO r FROM (SELECT id, v FROM t UNION SELECT 0, 50) x ORDER BY 1 LIMIT 1;
  INSERT INTO seen VALUES ('union', r.id);
  SELECT t.*, u.t AS n INTO r FROM t LEFT JOIN u ON u.id = t.id ORDER BY n LIMIT 1;
  INSERT INTO seen VALUES ('join', r.id);
END $$;
-- session a: f()
-- assert SELECT id = 3 FROM seen WHERE who = 'name'
-- assert SELECT id = 2 FROM seen WHERE who = 'number'
-- assert SELECT id = 0 FROM seen WHERE who = 'union'
-- assert SELECT id = 2 FROM seen WHERE who = 'join'
-- assert SELECT count(*) = 4 FROM seen
