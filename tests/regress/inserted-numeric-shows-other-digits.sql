-- INSERT … SELECT stored a numeric with the digits of the query. A numeric(6, 2) shows two, and so
-- does a text that is made of it.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: t(id = 9, q = 2.00)
-- says: t(id = 10, q = 1.67)
-- says: t(id = 11, q = 4.00)
CREATE TABLE t (id int PRIMARY KEY, q numeric(6, 2));
INSERT INTO t VALUES (1, 1.5);
CREATE FUNCTION f(p numeric) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t SELECT 9, 2.0 % 2.5 FROM t WHERE id = 1;
  INSERT INTO t SELECT id + 9, p FROM t WHERE id = 1;
  INSERT INTO t SELECT 11, count(*) + 1 FROM t;
END $$;
-- session s: f(1.666)
