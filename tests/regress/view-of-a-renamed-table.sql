-- False proof: a view keeps the table that it was made of, and was read with the names of the end.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: view 'v' was made before 'a' was changed

CREATE TABLE a (id integer PRIMARY KEY, n integer NOT NULL);
CREATE TABLE b (id integer PRIMARY KEY, n integer NOT NULL);
CREATE TABLE c (id integer PRIMARY KEY, n integer NOT NULL);
CREATE VIEW v AS SELECT id, n FROM a;
ALTER TABLE a RENAME TO a_old;
ALTER TABLE b RENAME TO a;
CREATE FUNCTION f() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  SELECT n INTO x FROM v WHERE id = 1;
  UPDATE c SET n = n + 1 WHERE id = 1;
  RETURN x;
END $$;
CREATE FUNCTION g() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  SELECT n INTO x FROM c WHERE id = 1;
  UPDATE a_old SET n = n + 1 WHERE id = 1;
  RETURN x;
END $$;
