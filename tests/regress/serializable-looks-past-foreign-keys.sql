-- The check of a foreign key looks at the rows that are there at that moment: at REPEATABLE READ and
-- at SERIALIZABLE, drop_parent returns a child that drop_child has deleted. Both were called
-- serializable.
-- run: isoscope audit FILE --level pg-ser --prove
-- exit: 3
-- says: a foreign key looks at what is there at that moment
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3

CREATE TABLE parent (id integer PRIMARY KEY, v integer NOT NULL);
CREATE TABLE child (cid integer PRIMARY KEY, pid integer NOT NULL REFERENCES parent(id));
CREATE FUNCTION drop_child(c integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM child WHERE cid = c;
END; $$;
CREATE FUNCTION drop_parent(c integer, p integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT pid INTO n FROM child WHERE cid = c;
  DELETE FROM parent WHERE id = p;
  RETURN n;
END; $$;
