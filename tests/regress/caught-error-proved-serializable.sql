-- Two calls meet at one row: the second one catches the serialization failure and returns false,
-- which no serial order shows, though there is no cycle of dependencies. Nothing may be proved.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: an EXCEPTION block catches
-- says not: serializable: every
CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL);
CREATE FUNCTION spend(p integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE acc SET bal = bal - 1 WHERE id = p;
  RETURN true;
EXCEPTION WHEN OTHERS THEN
  RETURN false;
END; $$;
