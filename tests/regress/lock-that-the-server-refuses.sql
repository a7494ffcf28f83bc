-- Locks were suggested where the server does not take them: behind the bracket of a subquery, and
-- with DISTINCT.
-- run: isoscope audit FILE --only ask --advise
-- exit: 1
-- says: + IF EXISTS (SELECT 1 FROM item WHERE id = p AND stock > 0 FOR UPDATE)
-- run: isoscope audit FILE --only twice --advise
-- exit: 1
-- says not: DISTINCT stock INTO n FROM item WHERE id = p FOR UPDATE

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION ask(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM item WHERE id = p AND stock > 0) THEN
    UPDATE item SET stock = stock - 1 WHERE id = p;
  END IF;
END; $$;
CREATE FUNCTION twice(p integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT DISTINCT stock INTO n FROM item WHERE id = p;
  UPDATE item SET stock = n * 2 WHERE id = p;
END; $$;
