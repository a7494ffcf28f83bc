-- WHEN (OLD.* IS DISTINCT FROM NEW.*) of a trigger was refused.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE log (id int PRIMARY KEY);
INSERT INTO t VALUES (1, 1), (2, NULL), (3, NULL);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER UPDATE ON t FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
  EXECUTE FUNCTION note();
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = CASE id WHEN 3 THEN 5 ELSE v END;
END $$;
-- session a: f()
-- assert SELECT id = 3 FROM log
-- assert SELECT count(*) = 1 FROM log
