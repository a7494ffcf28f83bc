-- Rooms by the day: look whether the room is free, then book it. Nothing in the schema says that a
-- room has one guest a day.
CREATE TABLE booking (
  booking_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  room       integer NOT NULL,
  day        integer NOT NULL,
  guest      text NOT NULL
);

CREATE FUNCTION book(p_room integer, p_day integer, p_guest text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_taken integer;
BEGIN
  SELECT booking_id INTO v_taken FROM booking WHERE room = p_room AND day = p_day LIMIT 1;
  IF v_taken IS NOT NULL THEN
    RETURN false;
  END IF;
  INSERT INTO booking (room, day, guest) VALUES (p_room, p_day, p_guest);
  RETURN true;
END;
$$;
