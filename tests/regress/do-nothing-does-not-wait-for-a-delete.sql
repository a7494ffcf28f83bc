-- ON CONFLICT DO NOTHING was said to find a row that another call was about to delete: PostgreSQL lets
-- it wait for that call, and then it inserts. Only the calls in which keep() comes first are left.
-- run: isoscope audit FILE --cycle 3 --all --initial any
-- exit: 1
-- says not: observable
-- says not: T3 found the row, T2 deleted it
CREATE TABLE s (id integer PRIMARY KEY, v integer NOT NULL);
CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);
CREATE FUNCTION bump() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE s SET v = v + 1 WHERE id = 1;
END; $$;
CREATE FUNCTION drop_it() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM t WHERE id = 1 AND v = (SELECT s.v FROM s WHERE s.id = 1);
END; $$;
CREATE FUNCTION keep() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT v INTO n FROM s WHERE id = 1;
  INSERT INTO t VALUES (1, 5) ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN 100; END IF;
  RETURN n;
END; $$;
