-- A UNIQUE constraint was advised that would refuse calls which may run one after the other: two
-- bookings of one room by `twice` are what the program wants.
-- run: isoscope audit FILE --level pg-rr --advise --cycle 2
-- exit: 1
-- says not: ADD UNIQUE

CREATE TABLE booking (id serial PRIMARY KEY, room integer NOT NULL);
CREATE FUNCTION book(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM booking WHERE room = p) THEN
    INSERT INTO booking (room) VALUES (p);
  END IF;
END; $$;
CREATE FUNCTION twice(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO booking (room) VALUES (p);
  INSERT INTO booking (room) VALUES (p);
END; $$;
