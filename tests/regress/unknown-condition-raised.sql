-- The name of a condition that does not exist was taken for an SQLSTATE, and an option that is given twice
-- for one; the server refuses both when it comes to them. Names that exist were not all known.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: the condition 'nonsense_name' is not known
--
-- run: sed '/FUNCTION f/,/END/d; /session/s/f(1)/g(1)/' FILE > TEMP/g.sql && isoscope explore TEMP/g.sql --level pg-rc
-- exit: 2
-- says: says something twice
--
-- run: sed '/FUNCTION [fg]/,/END/d; /session/s/f(1)/h(1)/' FILE > TEMP/h.sql && isoscope explore TEMP/h.sql --level pg-rc
-- exit: 0

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'x' USING ERRCODE = 'nonsense_name';
END $$;
CREATE FUNCTION g(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a' USING MESSAGE = 'b';
END $$;
CREATE FUNCTION h(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a' USING ERRCODE = 'locator_exception';
EXCEPTION WHEN SQLSTATE '0F000' THEN NULL;
END $$;
-- session s: f(1)
