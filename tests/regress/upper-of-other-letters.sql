-- lower left letters beyond ASCII as they are, without a word; the locale of the server decides.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: goes by the server's locale

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION f(p text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF lower('ÀB') = p THEN UPDATE t SET v = 1 WHERE id = 1; END IF;
END $$;
-- session s: f('àb')
