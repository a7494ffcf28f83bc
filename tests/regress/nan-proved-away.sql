-- A numeric may be NaN, which is greater than any number, and so is NaN less one: two calls lose an
-- update. It was proved that the branch is never taken.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says not: serializable: every
-- run: isoscope audit FILE --level pg-rc --cycle 2
-- exit: 3

CREATE TABLE a (id int PRIMARY KEY, v numeric(6, 2), n int);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  x numeric;
  y int;
BEGIN
  SELECT v, n INTO x, y FROM a WHERE id = 1;
  IF x - 1 >= x THEN
    UPDATE a SET n = y + 1 WHERE id = 1;
  END IF;
  RETURN y;
END $$;
