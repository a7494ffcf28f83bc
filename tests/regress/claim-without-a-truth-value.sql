-- A claim whose rows are no truth values was said to be broken; the server refuses such a function.
-- run: isoscope explore FILE
-- exit: 2
-- says: 12:1: error: this is no claim about rows: one truth value per row is expected

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE FUNCTION sell(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET stock = stock - 1 WHERE id = p;
END; $$;
-- session a: sell(1)
-- invariant SELECT stock FROM item
