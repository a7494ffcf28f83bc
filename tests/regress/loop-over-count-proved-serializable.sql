-- A loop over the one row of count(*) was taken for a loop over the rows that it counts, with NULL
-- for the count: the INSERT was never reached, and the function was proved serializable. Two calls
-- that count nothing both insert their row.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 1
-- says not: serializable: every
CREATE TABLE item (id integer PRIMARY KEY, val integer NOT NULL);
CREATE FUNCTION first_item(p integer, q integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  FOR r IN SELECT count(*) AS c FROM item LOOP
    IF r.c = 0 THEN INSERT INTO item VALUES (p, q); END IF;
  END LOOP;
END; $$;
