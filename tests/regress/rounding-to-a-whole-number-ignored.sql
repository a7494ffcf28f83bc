-- 0.5 is stored as 1 in an integer: what is rounded is not what was read.
-- run: isoscope audit FILE --level pg-rc
-- exit: 1
-- says: lost update

CREATE TABLE account (id int PRIMARY KEY, balance numeric(6,1) NOT NULL);

CREATE FUNCTION spend(p_id int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v numeric(6,1); i int;
BEGIN
  SELECT balance INTO v FROM account WHERE id = p_id;
  i := v;
  IF i = 1 AND v < 1 THEN
    UPDATE account SET balance = v - 0.1 WHERE id = p_id;
  END IF;
END $$;
