-- The default of a domain was passed over: the column was NULL, each call ended with 23502, and two
-- calls that lose an update were proved serializable.
-- run: isoscope audit FILE --prove
-- exit: 1
-- says: lost update between 2 calls of visit
-- run: isoscope audit FILE --prove --level pg-rr
-- exit: 0
-- says: serializable: every execution

CREATE DOMAIN amount AS integer DEFAULT 0;
CREATE TABLE counter (id integer PRIMARY KEY, n amount NOT NULL);

CREATE FUNCTION visit(p integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  INSERT INTO counter (id) VALUES (p) ON CONFLICT DO NOTHING;
  SELECT n INTO x FROM counter WHERE id = p;
  UPDATE counter SET n = x + 1 WHERE id = p;
  RETURN x;
END; $$;
