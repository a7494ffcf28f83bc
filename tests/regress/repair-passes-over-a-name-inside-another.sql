-- The repair by a row that all calls write passed over a function whose name is part of another's:
-- `book` beside `book_later`. So it was no repair, and none was told.
-- run: isoscope audit FILE --level pg-rr --advise
-- exit: 1
-- says: CREATE TABLE audit_turn
-- says: book_later, book

CREATE TABLE booking (id integer PRIMARY KEY, room integer NOT NULL);
CREATE TABLE waiting (id integer PRIMARY KEY, room integer NOT NULL);
CREATE FUNCTION book_later(p integer, q integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM booking WHERE room = p) THEN
    INSERT INTO waiting VALUES (q, p);
  END IF;
END;
$$;
CREATE FUNCTION book(p integer, q integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM waiting WHERE room = p) THEN
    INSERT INTO booking VALUES (q, p);
  END IF;
END;
$$;
