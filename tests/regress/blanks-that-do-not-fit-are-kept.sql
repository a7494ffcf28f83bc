-- Blanks at the end for which a varchar(n) has no room are cut off by the server. They were stored,
-- so that the text was found equal to none without them.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v varchar(3));
INSERT INTO t VALUES (1, 'x');
CREATE FUNCTION f(p text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  w varchar(2) := 'ab ';
BEGIN
  INSERT INTO t VALUES (2, p);
  UPDATE t SET v = 'ab  ' WHERE id = 1;
  INSERT INTO t SELECT 3, w || '|' FROM t WHERE id = 1;
END $$;
-- session s: f('abc ')
-- assert SELECT v = 'abc' FROM t WHERE id = 2
-- assert SELECT v = 'ab ' FROM t WHERE id = 1
-- assert SELECT v = 'ab|' FROM t WHERE id = 3
