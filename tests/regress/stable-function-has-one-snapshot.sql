-- A function that is STABLE was given a snapshot for each statement, and an anomaly that PostgreSQL
-- cannot have: its statements share the snapshot of the query that calls it.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 0
-- says: serializable: every execution

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION total() RETURNS integer LANGUAGE plpgsql STABLE AS $$
DECLARE a integer; b integer;
BEGIN
  SELECT stock INTO a FROM item WHERE id = 1;
  SELECT stock INTO b FROM item WHERE id = 2;
  RETURN a + b;
END; $$;
CREATE FUNCTION move(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET stock = stock - p WHERE id = 1;
  UPDATE item SET stock = stock + p WHERE id = 2;
END; $$;
