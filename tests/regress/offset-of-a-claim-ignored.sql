-- OFFSET of a claim was passed over: the first row broke a claim that is about the others, and a
-- subquery that takes the second row took the first.
-- run: isoscope explore FILE
-- exit: 1
-- says: 4 histories, 2 violate an assertion
-- says: fails: assert SELECT (SELECT stock FROM item ORDER BY id DESC OFFSET 1 LIMIT 1) >= 0
-- says not: fails: invariant

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
INSERT INTO item VALUES (1, 1);
INSERT INTO item VALUES (2, 5);
CREATE FUNCTION sell(p integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT stock INTO n FROM item WHERE id = p;
  IF n > 0 THEN UPDATE item SET stock = stock - 1 WHERE id = p; END IF;
END; $$;
-- session a: sell(1)
-- session b: sell(1)
-- invariant SELECT stock >= 0 FROM item ORDER BY id OFFSET 1
-- assert SELECT (SELECT stock FROM item ORDER BY id DESC OFFSET 1 LIMIT 1) >= 0
