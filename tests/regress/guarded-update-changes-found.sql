-- A repair put one UPDATE in place of a look and a test, though the function asks FOUND behind them:
-- with a row and no stock it said 'no such item' then.
-- run: isoscope audit FILE --advise
-- exit: 1
-- says: FOR UPDATE
-- says not: IF FOUND THEN

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION sell(p integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE v integer;
BEGIN
  SELECT stock INTO v FROM item WHERE id = p;
  IF v > 0 THEN
    UPDATE item SET stock = v - 1 WHERE id = p;
    RETURN 'sold';
  END IF;
  IF NOT FOUND THEN RETURN 'no such item'; END IF;
  RETURN 'sold out';
END; $$;
