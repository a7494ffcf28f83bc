-- An anomaly was shown in which one DELETE went past a row that another call was deleting, without
-- waiting for it. PostgreSQL makes it wait, and the run cannot be.
-- run: isoscope audit FILE --level pg-rc --cycle 3 --prove
-- exit: 3
-- says not: anomaly:

CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL, grp integer NOT NULL);
CREATE TABLE item (id integer PRIMARY KEY, val integer NOT NULL, tag integer UNIQUE);
CREATE TABLE chi (id integer PRIMARY KEY, up integer REFERENCES acc (id), n integer);
CREATE FUNCTION f1(p integer, q integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO item VALUES (1, q, NULL);
  RETURN 0;
END; $$;
CREATE FUNCTION f2(p integer, q integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM chi WHERE up = p;
  UPDATE item SET val = q WHERE id = p AND val <> q;
  RETURN 0;
END; $$;
