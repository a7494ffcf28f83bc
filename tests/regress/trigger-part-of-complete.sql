-- What is not modelled must not be part of a complete exploration: the trigger may do anything.
-- run: isoscope explore FILE --level pg-rc
-- exit: 2
-- says: the trigger watch runs note, which is not in the file

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE TRIGGER watch AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION note();
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v + 1 WHERE id = 1;
END; $$;
INSERT INTO t VALUES (1, 0);
-- session a: f()
-- session b: f()
-- invariant SELECT v <= 2 FROM t
