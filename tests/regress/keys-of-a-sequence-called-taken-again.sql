-- Bookings are deleted and inserted, but a sequence numbers them: no key is ever taken again, so that
-- SERIALIZABLE notices every cycle. The answer was unknown.
-- run: isoscope audit FILE --level pg-ser --prove
-- exit: 0
-- says: serializable: every execution
-- run: isoscope audit FILE --level pg-rr
-- exit: 1

CREATE TABLE flight (id integer PRIMARY KEY, seats integer NOT NULL);
CREATE TABLE booking (id serial PRIMARY KEY, flight integer NOT NULL, who text);
CREATE FUNCTION book(f integer, w text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  capacity integer;
  taken integer;
BEGIN
  SELECT seats INTO capacity FROM flight WHERE id = f;
  SELECT count(*) INTO taken FROM booking WHERE flight = f;
  IF taken >= capacity THEN RETURN false; END IF;
  INSERT INTO booking (flight, who) VALUES (f, w);
  RETURN true;
END; $$;
CREATE FUNCTION cancel(b integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM booking WHERE id = b;
END; $$;
