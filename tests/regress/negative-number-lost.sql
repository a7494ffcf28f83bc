-- The parser's JSON leaves out a constant that is not positive: -1 was read as 0.
-- run: isoscope explore FILE --level ser --outcomes
-- exit: 0
-- says: v_bal = -1
-- says not: v_bal = 0

CREATE TABLE account (
  id      integer PRIMARY KEY,
  balance integer NOT NULL
);
INSERT INTO account VALUES (1, 5);

CREATE FUNCTION overdraw() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_bal integer;
BEGIN
  UPDATE account SET balance = -1 WHERE id = 1;
  SELECT balance INTO v_bal FROM account WHERE id = 1;
END;
$$;

-- session one: overdraw()
