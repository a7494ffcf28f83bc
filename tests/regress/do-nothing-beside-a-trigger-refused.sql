-- ON CONFLICT DO NOTHING was refused beside every trigger, that of an UPDATE among them.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE log (id int PRIMARY KEY, v int);
INSERT INTO t VALUES (1, 1);
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.v := NEW.v + 100;
  RETURN NEW;
END $$;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (NEW.id, NEW.v);
  RETURN NULL;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION stamp();
CREATE TRIGGER note AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note();
CREATE FUNCTION add(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (p, 1) ON CONFLICT DO NOTHING;
END $$;
-- session a: add(1); add(2)
-- session b: add(2)
-- assert SELECT v = CASE id WHEN 1 THEN 1 ELSE 101 END FROM t
-- assert SELECT count(*) = 2 FROM t
-- assert SELECT id = 2 AND v = 101 FROM log
-- assert SELECT count(*) = 1 FROM log
