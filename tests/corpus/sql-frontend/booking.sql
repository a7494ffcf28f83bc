-- Rooms and seats: overlaps, waiting lists, savepoints.
CREATE TYPE booking_state AS ENUM ('held', 'paid', 'cancelled');
CREATE TABLE room (id integer PRIMARY KEY, capacity integer NOT NULL);
CREATE TABLE booking (id serial PRIMARY KEY, room integer NOT NULL REFERENCES room, day integer NOT NULL, guest text NOT NULL,
                      state booking_state NOT NULL DEFAULT 'held', CONSTRAINT one_a_day UNIQUE (room, day, guest));
CREATE TABLE waiting (room integer NOT NULL, day integer NOT NULL, guest text NOT NULL, since bigint NOT NULL, PRIMARY KEY (room, day, guest));

CREATE FUNCTION free_places(p_room integer, p_day integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
DECLARE v_capacity integer; v_taken integer;
BEGIN
  SELECT capacity INTO STRICT v_capacity FROM room WHERE id = p_room;
  SELECT count(*) INTO v_taken FROM booking WHERE room = p_room AND day = p_day AND state <> 'cancelled';
  RETURN v_capacity - v_taken;
END $$;

CREATE FUNCTION book(p_room integer, p_day integer, p_guest text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF free_places(p_room, p_day) <= 0 THEN
    RETURN 'full';
  END IF;
  INSERT INTO booking (room, day, guest) VALUES (p_room, p_day, p_guest);
  RETURN 'ok';
END $$;

CREATE FUNCTION book_or_wait(p_room integer, p_day integer, p_guest text, p_now bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    INSERT INTO booking (room, day, guest) VALUES (p_room, p_day, p_guest);
    RETURN 'booked';
  EXCEPTION
    WHEN unique_violation THEN
      INSERT INTO waiting VALUES (p_room, p_day, p_guest, p_now) ON CONFLICT DO NOTHING;
      RETURN 'waiting';
    WHEN foreign_key_violation THEN
      RAISE EXCEPTION 'no room %', p_room USING ERRCODE = 'P0404';
  END;
END $$;

CREATE FUNCTION book_locked(p_room integer, p_day integer, p_guest text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE r room%ROWTYPE;
BEGIN
  SELECT * INTO r FROM room WHERE id = p_room FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  r.capacity := r.capacity - (SELECT count(*) FROM booking WHERE room = p_room AND day = p_day);
  IF r.capacity <= 0 THEN RETURN false; END IF;
  INSERT INTO booking (room, day, guest) VALUES (p_room, p_day, p_guest);
  RETURN true;
END $$;

CREATE FUNCTION promote(p_room integer, p_day integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE v_guest text;
BEGIN
  DELETE FROM waiting w
  WHERE (w.room, w.day, w.guest) = (p_room, p_day, (SELECT guest FROM waiting WHERE room = p_room AND day = p_day ORDER BY since LIMIT 1))
  RETURNING w.guest INTO v_guest;
  IF v_guest IS NOT NULL THEN
    INSERT INTO booking (room, day, guest) VALUES (p_room, p_day, v_guest) ON CONFLICT ON CONSTRAINT one_a_day DO NOTHING;
  END IF;
  RETURN v_guest;
END $$;

CREATE FUNCTION cancel(integer, text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  p_id ALIAS FOR $1;
  p_guest ALIAS FOR $2;
  v_state booking_state;
BEGIN
  SELECT state INTO v_state FROM booking WHERE id = p_id AND guest = p_guest FOR UPDATE;
  CASE
    WHEN v_state IS NULL THEN RETURN false;
    WHEN v_state = 'cancelled' THEN RETURN false;
    ELSE UPDATE booking SET state = 'cancelled' WHERE id = p_id;
  END CASE;
  RETURN true;
END $$;

CREATE FUNCTION calendar(p_room integer, p_from integer, p_to integer) RETURNS TABLE (the_day integer, taken bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    SELECT d.d, count(b.id)
    FROM generate_series(p_from, p_to) AS d (d)
    LEFT JOIN booking b ON b.room = p_room AND b.day = d.d AND b.state <> 'cancelled'
    GROUP BY d.d ORDER BY d.d;
END $$;

CREATE FUNCTION move_guest(p_guest text, p_from integer, p_to integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  UPDATE booking b SET room = p_to
  WHERE b.guest = p_guest AND b.room = p_from
    AND NOT EXISTS (SELECT 1 FROM booking o WHERE o.room = p_to AND o.day = b.day AND o.guest = p_guest);
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;

CREATE FUNCTION book_many(p_room integer, p_days integer[], p_guest text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  INSERT INTO booking (room, day, guest) SELECT p_room, d, p_guest FROM unnest(p_days) AS d ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;
