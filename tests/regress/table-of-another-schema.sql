-- False proof: a table, an index, a trigger or a function of another schema took the place of the one that is used.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: 'bk' of two schemas are treated as one

CREATE TABLE bk (id serial PRIMARY KEY, room integer NOT NULL, day integer NOT NULL);
CREATE SCHEMA IF NOT EXISTS arch; DROP TABLE IF EXISTS arch.bk; CREATE TABLE arch.bk (id serial PRIMARY KEY, room integer NOT NULL, day integer NOT NULL, UNIQUE (room, day));
CREATE FUNCTION book(p_room integer, p_day integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM bk WHERE room = p_room AND day = p_day) THEN
    RETURN false;
  END IF;
  INSERT INTO bk (room, day) VALUES (p_room, p_day);
  RETURN true;
END $$;
