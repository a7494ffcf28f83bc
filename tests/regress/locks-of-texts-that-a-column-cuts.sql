-- False proof: the calls lock the texts that they are given, and 'a1 ' is stored as 'a1' in a varchar(2).
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: unknown

CREATE TABLE seat (code varchar(2) PRIMARY KEY, who text NOT NULL);
CREATE FUNCTION take(p_code text, p_neighbour text, p_who text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(least(p_code, p_neighbour)));
  PERFORM pg_advisory_xact_lock(hashtext(greatest(p_code, p_neighbour)));
  IF EXISTS (SELECT 1 FROM seat WHERE code = p_neighbour) THEN
    RETURN false;
  END IF;
  IF EXISTS (SELECT 1 FROM seat WHERE code = p_code) THEN
    RETURN false;
  END IF;
  INSERT INTO seat VALUES (p_code, p_who);
  RETURN true;
END $$;
