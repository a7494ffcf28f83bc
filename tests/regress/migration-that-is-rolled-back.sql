-- The UNIQUE constraint is taken back by ROLLBACK, and with it what made two bookings of one slot fail:
-- they were proved serializable. The row of the same transaction was one at the start.
-- run: isoscope audit FILE --prove
-- exit: 1
-- says: write skew between 2 calls of book
-- run: isoscope explore FILE
-- exit: 1
-- says: booking(id = 1, slot = 5)
-- says not: booking(id = 9
-- run: sed 's/^ROLLBACK/COMMIT/' FILE > TEMP/kept.sql; isoscope audit TEMP/kept.sql --prove
-- exit: 0
-- says: serializable: every execution
-- run: sed 's/^BEGIN;/BEGIN; SAVEPOINT s;/; s/^ROLLBACK/ROLLBACK TO s; COMMIT/' FILE > TEMP/savepoint.sql; isoscope audit TEMP/savepoint.sql --prove
-- exit: 3
-- says: what ROLLBACK TO takes back is not taken back here

CREATE TABLE booking (id int PRIMARY KEY, slot int NOT NULL);
BEGIN;
ALTER TABLE booking ADD UNIQUE (slot);
INSERT INTO booking VALUES (9, 9);
ROLLBACK;

CREATE FUNCTION book(p_id int, p_slot int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM booking WHERE slot = p_slot) THEN
    RETURN false;
  END IF;
  INSERT INTO booking VALUES (p_id, p_slot);
  RETURN true;
END $$;
-- session a: book(1, 5)
-- session b: book(2, 5)
-- assert SELECT count(*) = 1 FROM booking
