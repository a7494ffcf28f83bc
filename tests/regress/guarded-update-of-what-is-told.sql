-- The repair by a guarded UPDATE left out the look at a variable that pg_notify, and likewise RAISE NOTICE, sends.
-- A comment that names v is no such use.
-- run: isoscope audit FILE --advise
-- exit: 1
-- says: FOR UPDATE
-- says not: WHERE id = p AND stock > 0

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION sell(p integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v integer;
BEGIN
  SELECT stock INTO v FROM item WHERE id = p;
  IF v > 0 THEN
    UPDATE item SET stock = v - 1 WHERE id = p;
  ELSE
    PERFORM pg_notify('low', v::text);
  END IF;
  RETURN true;
END $$;
