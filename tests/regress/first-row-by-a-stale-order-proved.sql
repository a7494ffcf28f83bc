-- At READ COMMITTED the row with the smallest v was said to be taken by one call after the other:
-- PostgreSQL sorts by the snapshot, waits for the row, and takes it although it is no longer the
-- first. A loop that locks its rows in the order of their keys is still proved.
-- run: isoscope audit FILE --level pg-rc --prove --initial any --only take
-- exit: 3
-- says not: serializable: every
-- says: sorts and counts its rows before it reads them again
-- run: isoscope audit FILE --level pg-rc --prove --initial any --only drain
-- exit: 0
-- says: serializable
CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);
CREATE FUNCTION take() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  SELECT id INTO x FROM t ORDER BY v, id LIMIT 1 FOR UPDATE;
  UPDATE t SET v = v + 10 WHERE id = x;
  RETURN x;
END; $$;
CREATE FUNCTION drain() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE r record; n integer := 0;
BEGIN
  FOR r IN SELECT id, v FROM t ORDER BY id FOR UPDATE LOOP
    n := n + r.v;
    UPDATE t SET v = 0 WHERE id = r.id;
  END LOOP;
  RETURN n;
END; $$;
