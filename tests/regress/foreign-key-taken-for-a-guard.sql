-- A foreign key check was taken for a lock that shows every earlier writer of the row, so that this
-- oversell was proved serializable. KEY SHARE keeps nobody from changing the stock.
-- run: isoscope audit FILE --level pc --prove
-- exit: 1
-- says: lost update
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 0
-- says: serializable

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE TABLE line (id serial PRIMARY KEY, item integer REFERENCES item (id));
CREATE FUNCTION sell(p integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT stock INTO n FROM item WHERE id = p;
  IF n < 1 THEN RETURN false; END IF;
  UPDATE item SET stock = n - 1 WHERE id = p;
  INSERT INTO line (item) VALUES (p);
  RETURN true;
END; $$;
