-- SELECT r.* and VALUES (r.*) of a variable that is a row were refused, OLD and NEW among them.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE history (id int PRIMARY KEY, v int);
INSERT INTO t VALUES (1, 10), (2, 20);
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO history SELECT OLD.*;
  RETURN NULL;
END $$;
CREATE TRIGGER keep AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION keep();
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r t%ROWTYPE;
BEGIN
  UPDATE t SET v = v + 1 WHERE id = 1;
  SELECT * INTO r FROM t WHERE id = 2;
  r.id := 3;
  INSERT INTO t VALUES (r.*);
END $$;
-- session a: f()
-- assert SELECT v = CASE id WHEN 1 THEN 11 ELSE 20 END FROM t
-- assert SELECT count(*) = 3 FROM t
-- assert SELECT id = 1 AND v = 10 FROM history
-- assert SELECT count(*) = 1 FROM history
