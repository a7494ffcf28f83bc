-- Where --only named nothing but functions that are left out, all the others were audited instead,
-- and their anomaly was the answer.
-- run: isoscope audit FILE --only emptied
-- exit: 2
-- says: no function that --only names can be modelled
-- says not: withdraw
CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL);

CREATE FUNCTION emptied() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE account;
END $$;

CREATE FUNCTION withdraw(p_id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  b integer;
BEGIN
  SELECT balance INTO b FROM account WHERE id = p_id;
  UPDATE account SET balance = b - 1 WHERE id = p_id;
END $$;
