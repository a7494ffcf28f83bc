-- With reads FOR UPDATE, balance and swap were called serializable together; but balance is STABLE,
-- and the server refuses locks in it.
-- run: isoscope audit FILE --subsets
-- exit: 1
-- says: serializable together at pg-rc, with reads FOR UPDATE
-- says not: balance, swap

CREATE TABLE sav (id integer PRIMARY KEY, bal integer NOT NULL);
CREATE FUNCTION balance(p integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
DECLARE a integer;
BEGIN
  SELECT bal INTO a FROM sav WHERE id = p;
  RETURN a;
END; $$;
CREATE FUNCTION swap(p integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE a integer;
BEGIN
  a := balance(p);
  UPDATE sav SET bal = a + 1 WHERE id = p;
END; $$;
