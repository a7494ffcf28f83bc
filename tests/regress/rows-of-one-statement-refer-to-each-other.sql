-- Foreign keys were looked at after each row of an INSERT, and after each part of WITH, where the
-- server does so when the whole statement has run: calls that it takes ended with 23503, and two
-- that change one row were proved serializable.
-- run: isoscope audit FILE --only pair --prove
-- exit: 3
-- says: rows of 'node' that refer to rows of the same INSERT
-- run: isoscope audit FILE --only one --prove
-- exit: 0
-- says not: not modelled
-- run: isoscope audit FILE --only link,look --prove
-- exit: 3
-- says: foreign keys between parts of one statement
-- run: isoscope audit FILE --only cut --prove
-- exit: 3
-- says: foreign keys between parts of one statement
-- run: isoscope audit FILE --only sell --prove
-- exit: 0
-- says not: not modelled

CREATE TABLE node (id integer PRIMARY KEY, up integer REFERENCES node (id));
CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE TABLE line (id integer PRIMARY KEY, item integer REFERENCES item (id));

CREATE FUNCTION pair(a integer, b integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node VALUES (a, b), (b, a);
END; $$;

CREATE FUNCTION one(a integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node VALUES (a, a);
END; $$;

CREATE FUNCTION link(a integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH x AS (UPDATE line SET item = a WHERE id = 1 RETURNING id) INSERT INTO item VALUES (a, 0);
END; $$;

CREATE FUNCTION look(a integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  x integer;
  y integer;
BEGIN
  SELECT item INTO x FROM line WHERE id = 1;
  SELECT stock INTO y FROM item WHERE id = a;
  RETURN x + y;
END; $$;

CREATE FUNCTION cut(a integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH x AS (DELETE FROM item WHERE id = a RETURNING id) DELETE FROM line WHERE item = a;
END; $$;

CREATE FUNCTION sell(a integer, b integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH x AS (INSERT INTO line VALUES (a, b) RETURNING id)
  UPDATE item SET stock = stock - 1 WHERE id = b;
END; $$;
