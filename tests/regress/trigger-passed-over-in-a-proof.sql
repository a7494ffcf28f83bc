-- Triggers, numeric and the like were passed over with a note, and what was left proved.
-- run: isoscope audit FILE --level si --prove
-- exit: 2
-- says: the trigger tr runs g, which is not in the file
-- run: isoscope audit FILE --level si
-- exit: 2

CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);
CREATE TRIGGER tr AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION g();
CREATE FUNCTION f(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v + 1 WHERE id = p;
END; $$;
