-- True and 1 are one number to the solver, and so true::text was 1::text: the branch was never taken.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 1
-- says: lost update between 2 calls of f
CREATE TABLE account (id int PRIMARY KEY, n int NOT NULL);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE k int;
BEGIN
  SELECT n INTO k FROM account WHERE id = p;
  IF p = 1 AND (p = 1)::text <> (1)::text THEN
    UPDATE account SET n = k + 1 WHERE id = p;
  END IF;
END $$;
