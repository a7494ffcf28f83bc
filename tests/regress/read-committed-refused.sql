-- READ COMMITTED, which most programs run at, was refused; a read before a lock loses an update, one
-- after it does not.
-- run: isoscope audit FILE --only late
-- exit: 1
-- says: at pg-rc: anomaly: lost update between 2 calls of late
-- says: waits for T1
-- run: isoscope audit FILE --only early --level "read committed" --prove
-- exit: 0
-- says: serializable
-- run: isoscope audit FILE --only early,late --assign late=pg-rr --prove
-- exit: 0
-- says: serializable

CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL);
CREATE FUNCTION late(p_id integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_bal integer;
BEGIN
  SELECT balance INTO v_bal FROM account WHERE id = p_id;
  PERFORM 1 FROM account WHERE id = p_id FOR UPDATE;
  UPDATE account SET balance = v_bal - 1 WHERE id = p_id;
END;
$$;
CREATE FUNCTION early(p_id integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_bal integer;
BEGIN
  SELECT balance INTO v_bal FROM account WHERE id = p_id FOR UPDATE;
  UPDATE account SET balance = v_bal - 1 WHERE id = p_id;
END;
$$;
