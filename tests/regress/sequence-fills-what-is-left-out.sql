-- nextval in one INSERT made the column one that the database fills, also in an INSERT that leaves it
-- out: there the server stores NULL.
-- run: isoscope audit FILE --prove
-- exit: 3
-- says: some INSERT leaves out 'ticket' of 't'

CREATE SEQUENCE s;
CREATE TABLE t (id integer PRIMARY KEY, ticket integer);
CREATE FUNCTION numbered(k integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t (id, ticket) VALUES (k, nextval('s'));
END; $$;
CREATE FUNCTION plain(k integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v integer;
BEGIN
  INSERT INTO t (id) VALUES (k);
  SELECT ticket INTO v FROM t WHERE id = k;
  RETURN v;
END; $$;
