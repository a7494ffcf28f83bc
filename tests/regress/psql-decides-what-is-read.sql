-- The constraint that makes one of two calls fail may not be there, and what another file adds is not known: calls were
-- proved serializable.
-- run: isoscope audit FILE --prove
-- exit: 3
-- says: what psql does at \if is not followed
-- run: sed 's/^.if.*//; s/^.endif.*/\\i more.sql/' FILE > TEMP/more.sql; isoscope audit TEMP/more.sql --prove
-- exit: 3
-- says: what psql does at \i is not followed
-- run: sed 's/^.if.*//; s/^.endif.*/\\echo done/' FILE > TEMP/echo.sql; isoscope audit TEMP/echo.sql --prove
-- exit: 0
-- says: serializable: every execution

CREATE TABLE booking (id int PRIMARY KEY, slot int NOT NULL);
\if :strict
ALTER TABLE booking ADD UNIQUE (slot);
\endif

CREATE FUNCTION book(p_id int, p_slot int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM booking WHERE slot = p_slot) THEN
    RETURN false;
  END IF;
  INSERT INTO booking VALUES (p_id, p_slot);
  RETURN true;
END $$;
