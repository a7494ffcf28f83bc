-- What an IMMUTABLE function reads was taken to be read at each call, and `bump` proved serializable.
-- PostgreSQL computes limit_of(1) when it plans the statement, and keeps the value for later calls of
-- the session: on the server every call of `bump` returns what the first one did.
-- run: isoscope audit FILE --prove
-- exit: 3
-- says: limit_of is IMMUTABLE and asks the database
-- says not: at pg-rc: serializable
-- run: isoscope explore FILE
-- exit: 3
-- says not: all assertions hold
CREATE TABLE config (k integer PRIMARY KEY, v integer NOT NULL);
INSERT INTO config VALUES (1, 10);

CREATE FUNCTION limit_of(p integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT v FROM config WHERE k = p);
END $$;

CREATE FUNCTION bump() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  x integer;
BEGIN
  PERFORM 1 FROM config WHERE k = 1 FOR UPDATE;
  x := limit_of(1);
  UPDATE config SET v = x + 1 WHERE k = 1;
  RETURN x;
END $$;

-- session a: bump(); bump()
-- session b: bump()
