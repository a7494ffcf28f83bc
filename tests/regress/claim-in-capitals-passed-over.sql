-- Claims with a capital, with a colon or with WITH were taken for prose, and never checked.
-- run: isoscope explore FILE
-- exit: 1
-- says: fails: invariant SELECT stock > 0 FROM item
-- says: fails: invariant WITH x AS (SELECT stock FROM item) SELECT stock > 0 FROM x

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
INSERT INTO item VALUES (1, 1);
CREATE FUNCTION sell(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET stock = stock - 1 WHERE id = p;
END; $$;
-- session a: sell(1)
-- Invariant: SELECT stock > 0 FROM item
-- invariant WITH x AS (SELECT stock FROM item) SELECT stock > 0 FROM x
-- invariants selected by hand are no claims
