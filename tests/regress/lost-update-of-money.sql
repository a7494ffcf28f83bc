-- Cents were no values of a run: amounts were whole numbers.
-- run: isoscope audit FILE --level pg-rc
-- exit: 1
-- says: lost update
-- says: 0.99
-- run: isoscope explore FILE --level pg-rc
-- exit: 1
-- says: balance = 9.02

CREATE TABLE account (id int PRIMARY KEY, balance numeric(12,2) NOT NULL);
INSERT INTO account VALUES (1, 10);

CREATE FUNCTION withdraw(p_id int, p_amount numeric) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_balance numeric(12,2);
BEGIN
  SELECT balance INTO v_balance FROM account WHERE id = p_id;
  IF p_amount > 0.98 AND p_amount < 1 AND v_balance < 20 THEN
    UPDATE account SET balance = v_balance - p_amount WHERE id = p_id;
  END IF;
END $$;
-- assert SELECT balance <= 8.03 FROM account
-- session alice: withdraw(1, 0.985)
-- session bob: withdraw(1, 0.99)
