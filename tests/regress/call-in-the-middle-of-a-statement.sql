-- The server calls next_number for each row that the UPDATE finds, by newer snapshots than that of
-- the UPDATE; here it runs once before it. Nothing may be said of such a function.
-- run: isoscope audit FILE --level pg-rc
-- exit: 3
-- says: stamp is left out: stamp calls next_number(…) inside of a statement
CREATE TABLE seq (id integer PRIMARY KEY, n integer NOT NULL);
CREATE TABLE doc (id integer PRIMARY KEY, number integer);
CREATE FUNCTION next_number() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  UPDATE seq SET n = n + 1 WHERE id = 1 RETURNING n INTO x;
  RETURN x;
END; $$;
CREATE FUNCTION stamp(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE doc SET number = next_number() WHERE id = p;
END; $$;
