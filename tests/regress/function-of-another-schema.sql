-- False proof: the function with the lock is one of another schema.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: functions 'lock_it' of two schemas are treated as one

CREATE TABLE bk (id serial PRIMARY KEY, room bigint NOT NULL);
CREATE SCHEMA IF NOT EXISTS arch; CREATE FUNCTION lock_it(k bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RETURN;
END $$;
CREATE OR REPLACE FUNCTION arch.lock_it(k bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(k);
END $$;
CREATE FUNCTION add(r bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_it(r);
  IF EXISTS (SELECT 1 FROM bk WHERE room = r) THEN
    RETURN false;
  END IF;
  INSERT INTO bk (room) VALUES (r);
  RETURN true;
END $$;
