-- CREATE INDEX IF NOT EXISTS does nothing where some index has the name already, and a UNIQUE index without
-- a name has one that DROP INDEX IF EXISTS knows. Such indexes were there for audit and not on the
-- server: two bookings of one slot were proved serializable.
-- run: isoscope audit FILE --prove
-- exit: 1
-- says: write skew between 2 calls of book
-- run: sed 's/^CREATE UNIQUE INDEX.*/CREATE UNIQUE INDEX ON booking (slot); DROP INDEX IF EXISTS booking_slot_idx;/' FILE > TEMP/named.sql; isoscope audit TEMP/named.sql --prove
-- exit: 1
-- says: write skew between 2 calls of book
-- run: sed 's/^CREATE UNIQUE INDEX.*/CREATE UNIQUE INDEX u ON booking (slot); ALTER INDEX u RENAME TO v; DROP INDEX IF EXISTS v;/' FILE > TEMP/renamed.sql; isoscope audit TEMP/renamed.sql --prove
-- exit: 1
-- says: write skew between 2 calls of book

-- Where the name is free again, or one of two such indexes is dropped, the slot stays UNIQUE: DROP INDEX
-- took both.
-- run: sed 's/^CREATE UNIQUE INDEX.*/CREATE INDEX u ON booking (id); DROP INDEX u; CREATE UNIQUE INDEX IF NOT EXISTS u ON booking (slot);/' FILE > TEMP/free.sql; isoscope audit TEMP/free.sql --prove
-- exit: 0
-- says: serializable: every execution
-- run: sed 's/^CREATE UNIQUE INDEX.*/CREATE UNIQUE INDEX u ON booking (slot); CREATE UNIQUE INDEX v ON booking (slot); DROP INDEX u;/' FILE > TEMP/two.sql; isoscope audit TEMP/two.sql --prove
-- exit: 0
-- says: serializable: every execution

CREATE TABLE booking (id int PRIMARY KEY, slot int NOT NULL);
CREATE UNIQUE INDEX u ON booking (id, slot); CREATE UNIQUE INDEX IF NOT EXISTS u ON booking (slot);

CREATE FUNCTION book(p_id int, p_slot int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM booking WHERE slot = p_slot) THEN
    RETURN false;
  END IF;
  INSERT INTO booking VALUES (p_id, p_slot);
  RETURN true;
END $$;
