-- A variable that is declared NOT NULL took a NULL; the server fails with 22004.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  q int NOT NULL := p;
BEGIN
  q := NULL;
EXCEPTION WHEN null_value_not_allowed THEN
  UPDATE t SET v = q WHERE id = 1;
END $$;
-- session s: f(7)
-- assert SELECT v = 7 FROM t WHERE id = 1
