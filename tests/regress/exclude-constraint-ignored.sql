-- An EXCLUDE constraint was passed over, so that two bookings of one room were both there, and the
-- answer was unknown. What audit says without it proves nothing.
-- run: isoscope explore FILE
-- exit: 0
-- says: 2 histories
-- says not: violate
--
-- run: isoscope audit FILE --level pg-ser
-- exit: 3
-- says: EXCLUDE constraints are ignored
CREATE TABLE booking (
  id int PRIMARY KEY,
  room int NOT NULL,
  first int NOT NULL,
  last int NOT NULL,
  EXCLUDE USING gist (room WITH =, int4range(first, last, '[]') WITH &&)
);
CREATE FUNCTION book(p_id int, p_first int, p_last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO booking VALUES (p_id, 1, p_first, p_last);
END $$;
-- session a: book(1, 3, 5)
-- session b: book(2, 5, 7)
-- assert SELECT count(*) <= 1 FROM booking
