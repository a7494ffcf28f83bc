-- WHERE (a, b) > (c, d), as pages behind a row are asked for, was refused.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE seen (who text PRIMARY KEY, id int);
INSERT INTO t VALUES (1, 20), (2, 10), (3, 10), (4, NULL);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x int;
BEGIN
  SELECT id INTO x FROM t WHERE (v, id) > (10, 2) ORDER BY v, id LIMIT 1;
  INSERT INTO seen VALUES ('next', x);
  SELECT count(*) INTO x FROM t WHERE (v, id) >= (10, 3);
  INSERT INTO seen VALUES ('from', x);
  SELECT count(*) INTO x FROM t WHERE (id, v) < (4, NULL);
  INSERT INTO seen VALUES ('before', x);
  SELECT count(*) INTO x FROM t WHERE ((v, id) <= (NULL, 3)) IS NULL;
  INSERT INTO seen VALUES ('open', x);
END $$;
-- session a: f()
-- assert SELECT id = CASE who WHEN 'next' THEN 3 WHEN 'from' THEN 2 WHEN 'before' THEN 3 ELSE 4 END FROM seen
-- assert SELECT count(*) = 4 FROM seen
