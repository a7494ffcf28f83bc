-- RENAME of one function renamed those of the same name with other arguments, too, and the lock was gone.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 0
-- says: serializable: every execution
-- run: sed 's/guard(text) RENAME/guard(int) RENAME/; s/guard(r)/passes(r)/' FILE > TEMP/other.sql; isoscope audit TEMP/other.sql --level pg-rc --prove
-- exit: 0
-- says: serializable: every execution

CREATE TABLE bk (id serial PRIMARY KEY, room int NOT NULL);
CREATE FUNCTION guard(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(k);
END $$;
CREATE FUNCTION guard(k text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RETURN;
END $$;
ALTER FUNCTION guard(text) RENAME TO passes;
CREATE FUNCTION add(r int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM guard(r);
  IF EXISTS (SELECT 1 FROM bk WHERE room = r) THEN
    RETURN false;
  END IF;
  INSERT INTO bk (room) VALUES (r);
  RETURN true;
END $$;
