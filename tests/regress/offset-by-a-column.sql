-- A column in OFFSET was taken for one of the rows that OFFSET counts; PostgreSQL refuses it.
-- run: isoscope audit FILE --level si
-- exit: 2
-- says: OFFSET cannot depend on a column
CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION pick() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v integer;
BEGIN
  SELECT id INTO v FROM item ORDER BY id OFFSET stock LIMIT 1;
  RETURN v;
END; $$;
