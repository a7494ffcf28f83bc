-- False proof: the index is one of another table of that name.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: 'bk' of two schemas are treated as one

CREATE TABLE room (id integer PRIMARY KEY, n integer NOT NULL);
CREATE TABLE bk (id serial PRIMARY KEY, room integer NOT NULL, day integer NOT NULL);
CREATE FUNCTION bump() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE room SET n = n + 1 WHERE id = NEW.room;
  RETURN NEW;
END $$;
CREATE UNIQUE INDEX IF NOT EXISTS ux ON arch.bk (room, day);
CREATE FUNCTION book(p_room integer, p_day integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  SELECT n INTO x FROM room WHERE id = p_room;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF EXISTS (SELECT 1 FROM bk WHERE room = p_room AND day = p_day) THEN
    RETURN false;
  END IF;
  INSERT INTO bk (room, day) VALUES (p_room, p_day);
  RETURN true;
END $$;
