-- Advice from pc up offered psi, which is not above it: the two are incomparable.
-- run: isoscope audit FILE --level pc --advise
-- exit: 1
-- says:   withdraw  si
-- says not: psi

CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL);
CREATE FUNCTION withdraw(p_id integer, p_amount integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_bal integer;
BEGIN
  SELECT balance INTO v_bal FROM account WHERE id = p_id;
  UPDATE account SET balance = v_bal - p_amount WHERE id = p_id;
END;
$$;
