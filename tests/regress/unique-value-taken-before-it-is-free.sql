-- An INSERT was said to take a UNIQUE value that another call frees only after the INSERT has begun:
-- the run needs a pause inside of the statement, and PostgreSQL answers 23505.
-- run: isoscope audit FILE --cycle 3 --all --initial any
-- exit: 1
-- says: between 1 call of bump and 2 of free
-- says not: take()
CREATE TABLE s (id integer PRIMARY KEY, v integer NOT NULL);
CREATE TABLE t (id integer PRIMARY KEY, e integer UNIQUE, v integer);
CREATE FUNCTION bump() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE s SET v = v + 1 WHERE id = 1;
END; $$;
CREATE FUNCTION free() RETURNS void LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT v INTO n FROM s WHERE id = 1;
  UPDATE t SET e = NULL, v = n WHERE id = 1;
END; $$;
CREATE FUNCTION take() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (2, 7, (SELECT v FROM s WHERE id = 1));
  RETURN 1;
END; $$;
