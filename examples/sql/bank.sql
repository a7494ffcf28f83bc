-- A bank (ANODE paper, Fig. 1). One function is one transaction; the sessions are at the end.
CREATE TABLE account (
  acc_id  integer PRIMARY KEY,
  balance integer NOT NULL
);
INSERT INTO account VALUES (1, 100), (2, 80);

CREATE FUNCTION withdraw(p_id integer, p_amount integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_bal integer;
BEGIN
  SELECT balance INTO v_bal FROM account WHERE acc_id = p_id;
  IF v_bal > p_amount THEN
    UPDATE account SET balance = v_bal - p_amount WHERE acc_id = p_id;
  END IF;
END;
$$;

-- session alice: withdraw(1, 60); withdraw(2, 5)
-- session bob: withdraw(1, 30)
