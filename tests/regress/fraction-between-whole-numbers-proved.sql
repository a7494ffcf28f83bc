-- Between 0 and 1 there are no whole numbers: with these for numerics, nothing was ever written.
-- run: isoscope audit FILE --level pg-rc
-- exit: 1
-- says: lost update

CREATE TABLE account (id int PRIMARY KEY, balance numeric NOT NULL);

CREATE FUNCTION spend(p_id int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v numeric;
BEGIN
  SELECT balance INTO v FROM account WHERE id = p_id;
  IF v > 0 AND v < 1 THEN
    UPDATE account SET balance = v - 0.01 WHERE id = p_id;
  END IF;
END $$;
