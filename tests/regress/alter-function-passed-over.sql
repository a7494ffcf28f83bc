-- ALTER FUNCTION was passed over without a word: the two reads of a function that is VOLATILE by now
-- had one snapshot, and were proved serializable.
-- run: isoscope audit FILE --prove
-- exit: 3
-- says: ALTER FUNCTION is ignored

CREATE TABLE account (id integer PRIMARY KEY, n integer NOT NULL);

CREATE FUNCTION total() RETURNS integer LANGUAGE plpgsql STABLE AS $$
DECLARE
  x integer;
  y integer;
BEGIN
  SELECT n INTO x FROM account WHERE id = 1;
  SELECT n INTO y FROM account WHERE id = 2;
  RETURN x + y;
END; $$;
ALTER FUNCTION total() VOLATILE;
-- What follows says nothing of what it does.
ALTER FUNCTION total() COST 10;

CREATE FUNCTION transfer(q integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET n = n - q WHERE id = 1;
  UPDATE account SET n = n + q WHERE id = 2;
END; $$;
