-- A column of numerics was a gap, so that no program with money in it was ever proved.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 0
-- says: serializable: every execution
-- says not: whole numbers
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 0
-- says: serializable: every execution

CREATE TABLE account (id int PRIMARY KEY, balance numeric(12,2) NOT NULL CHECK (balance >= 0));

CREATE FUNCTION withdraw(p_id int, p_amount numeric) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE v_balance numeric(12,2);
BEGIN
  SELECT balance INTO v_balance FROM account WHERE id = p_id FOR UPDATE;
  IF v_balance >= p_amount * 1.5 THEN
    UPDATE account SET balance = v_balance - p_amount WHERE id = p_id;
  END IF;
  RETURN v_balance;
END $$;

CREATE FUNCTION deposit(p_id int, p_amount numeric) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance + p_amount WHERE id = p_id;
END $$;
