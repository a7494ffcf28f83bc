-- Runs counted that say nothing about the claim, as it does not hold at their start: 800 small runs
-- were said not to break it.
-- run: isoscope audit FILE
-- exit: 1
-- says: invariant of line 15: not tried
-- says not: not broken by

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION sell(p integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT stock INTO n FROM item WHERE id = p;
  UPDATE item SET stock = n - 1 WHERE id = p;
END; $$;
-- invariant SELECT count(*) = 5 FROM item
