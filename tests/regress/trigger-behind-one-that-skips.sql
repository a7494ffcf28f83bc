-- A BEFORE INSERT trigger passed over a row, and the next trigger was still asked about it.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says: t(id = 2, n = 4)
-- says: log(id = 2, n = 3)
-- says not: log(id = 1

CREATE TABLE t (id integer PRIMARY KEY, n integer NOT NULL);
CREATE TABLE log (id integer PRIMARY KEY, n integer NOT NULL);

CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.n = 1 THEN RETURN NULL; END IF;
  NEW.n := NEW.n + 1;
  RETURN NEW;
END; $$;

CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (NEW.id, NEW.n);
  RETURN NEW;
END; $$;

CREATE TRIGGER b_note BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER a_skip BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION skip();
CREATE TRIGGER c_skip BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION skip();

CREATE FUNCTION put(p integer, q integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (p, q);
  RETURN FOUND;
END; $$;

-- session a: put(1, 1); put(2, 2)
