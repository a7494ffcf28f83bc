-- The repair by a guarded UPDATE left out a variable of a domain, whose CHECK may end the call.
-- run: isoscope audit FILE --advise
-- exit: 1
-- says: FOR UPDATE
-- says not: WHERE id = p AND stock > 0

CREATE DOMAIN pos AS integer CHECK (VALUE > 0);
CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION sell(p integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v pos;
BEGIN
  SELECT stock INTO v FROM item WHERE id = p;
  IF v > 0 THEN
    UPDATE item SET stock = v - 1 WHERE id = p;
    RETURN true;
  END IF;
  RETURN false;
END $$;
