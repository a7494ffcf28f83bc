-- False proof: IF NOT EXISTS looked at a table that SET SCHEMA had moved away.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: 'bk' of two schemas are treated as one

CREATE SCHEMA IF NOT EXISTS arch; DROP TABLE IF EXISTS arch.bk;
CREATE TABLE bk (id serial PRIMARY KEY, room integer NOT NULL, UNIQUE (room));
ALTER TABLE bk SET SCHEMA arch;
CREATE TABLE IF NOT EXISTS bk (id serial PRIMARY KEY, room integer NOT NULL);
CREATE FUNCTION add(r integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM bk WHERE room = r) THEN
    RETURN false;
  END IF;
  INSERT INTO bk (room) VALUES (r);
  RETURN true;
END $$;
