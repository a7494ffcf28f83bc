-- RETURN OLD of a BEFORE UPDATE trigger was taken for RETURN NEW: the row was changed all the same,
-- where the server writes the old values.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says: t(id = 1, v = 3)
-- says not: v = 2

CREATE TABLE t (id integer PRIMARY KEY, v integer);
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.v < OLD.v THEN RETURN OLD; END IF;
  RETURN NEW;
END; $$;
CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION keep();
CREATE FUNCTION take(k integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  UPDATE t SET v = v - 1 WHERE id = k RETURNING v INTO x;
  RETURN x;
END; $$;
INSERT INTO t VALUES (1, 3);
-- session a: take(1)
