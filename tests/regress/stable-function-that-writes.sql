-- PostgreSQL refuses what changes rows in a function that is STABLE whenever it is called; it was
-- audited as if it did so.
-- run: isoscope audit FILE --level pg-rc
-- exit: 2
-- says: not allowed in a function that is stable

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION sell(p integer) RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
  UPDATE item SET stock = stock - 1 WHERE id = p;
END; $$;
