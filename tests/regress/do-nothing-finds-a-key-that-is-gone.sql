-- At REPEATABLE READ, ON CONFLICT DO NOTHING was said to find a key of its snapshot that a call which
-- committed before had deleted by then: PostgreSQL looks at what is there, and inserts. Such a run
-- needs an order in which the statement comes before the deletion, and now shows it.
-- run: isoscope audit FILE --level pg-rr --cycle 3 --all --initial any
-- exit: 1
-- says: statements and commits, in this order
-- says: takes its snapshot
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
  INSERT INTO t VALUES (1, 5) ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN 100; END IF;
  SELECT v INTO n FROM s WHERE id = 1;
  RETURN n;
END; $$;
