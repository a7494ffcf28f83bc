-- False proof: a view keeps the columns that it was made of.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: view 'v' was made before 'a' was changed

CREATE TABLE a (id integer PRIMARY KEY, n integer NOT NULL, m integer NOT NULL);
CREATE TABLE c (id integer PRIMARY KEY, n integer NOT NULL);
CREATE VIEW v AS SELECT id, n FROM a;
ALTER TABLE a RENAME COLUMN n TO n_old;
ALTER TABLE a RENAME COLUMN m TO n;
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
  UPDATE a SET n_old = n_old + 1 WHERE id = 1;
  RETURN x;
END $$;
