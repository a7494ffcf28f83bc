-- The CHECK of a domain was passed over: explore let the stock be -1.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- says: 23514
-- says not: violate
-- exit: 3

CREATE DOMAIN amount AS int CHECK (VALUE >= 0);
CREATE TABLE item (id int PRIMARY KEY, stock amount NOT NULL);
INSERT INTO item VALUES (1, 1);
CREATE FUNCTION sell(k int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT stock INTO n FROM item WHERE id = k;
  IF n > 0 THEN
    UPDATE item SET stock = stock - 1 WHERE id = k;
  END IF;
END $$;
-- session a: sell(1)
-- session b: sell(1)
-- assert SELECT stock >= 0 FROM item
