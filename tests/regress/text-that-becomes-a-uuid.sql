-- False proof: texts that are written differently are the same uuid.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: a text becomes a uuid, and is compared as it is written

CREATE TABLE bk (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), room uuid NOT NULL, day integer NOT NULL);
CREATE FUNCTION book(r text, d integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(r));
  IF EXISTS (SELECT 1 FROM bk WHERE room = r::uuid AND day = d) THEN
    RETURN false;
  END IF;
  INSERT INTO bk (room, day) VALUES (r::uuid, d);
  RETURN true;
END $$;
