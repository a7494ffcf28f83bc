-- A value of a sequence counted as one never used before, also where another sequence or setval gives
-- the same number again, or where it begins again by itself.
-- run: isoscope audit FILE --prove
-- exit: 3
-- says: values of 'id' of 't' may come from several sequences
-- says: the sequence may begin again (CYCLE)
-- says: setval

CREATE SEQUENCE a;
CREATE SEQUENCE b CYCLE MAXVALUE 3;
CREATE TABLE t (id integer PRIMARY KEY);
CREATE FUNCTION by_a() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (nextval('a'));
END; $$;
CREATE FUNCTION by_b() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (nextval('public.b'::regclass));
END; $$;
CREATE FUNCTION restart() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM setval('a', 1);
END; $$;
