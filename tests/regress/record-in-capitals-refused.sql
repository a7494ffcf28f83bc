-- RECORD in capital letters has another tree than record, and was refused; so was a test of the
-- record as a whole.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 0
-- says: serializable: every execution
CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL);
CREATE FUNCTION spend(p integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE r RECORD;
BEGIN
  SELECT * INTO r FROM acc WHERE id = p FOR UPDATE;
  IF r IS NULL THEN RETURN -1; END IF;
  UPDATE acc SET bal = r.bal - 1 WHERE id = p;
  RETURN r.bal;
END; $$;
