-- A UNIQUE constraint was suggested that cannot be added: the rows of the file have doubles.
-- run: isoscope audit FILE --level si --advise
-- exit: 1
-- says not: ADD UNIQUE

CREATE TABLE booking (id serial PRIMARY KEY, room integer NOT NULL);
INSERT INTO booking (room) VALUES (1);
INSERT INTO booking (room) VALUES (1);
CREATE FUNCTION book(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM booking WHERE room = p) THEN
    INSERT INTO booking (room) VALUES (p);
  END IF;
END; $$;
