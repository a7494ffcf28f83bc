-- What lpad gives is made up, and explore said without a word that the claim holds.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: lpad is treated as some function of its arguments
CREATE TABLE t (id int PRIMARY KEY, n int);
INSERT INTO t VALUES (1, 0);
CREATE FUNCTION f(p text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET n = 1 WHERE lpad(p, 3, 'x') = 'xab';
END $$;
-- session a: f('ab')
-- assert SELECT n = 0 FROM t
