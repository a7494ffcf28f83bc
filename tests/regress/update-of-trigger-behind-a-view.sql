-- A trigger UPDATE OF a column did not fire where a view sets the column under another name, or where
-- the column is generated from one that is set.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: log(id = 1)
-- says: log(id = 2)

CREATE TABLE t (id int PRIMARY KEY, v int, g int GENERATED ALWAYS AS (v + 1) STORED);
CREATE TABLE log (id int PRIMARY KEY);
CREATE VIEW tv AS SELECT id, v AS w FROM t;
CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (1);
  RETURN NULL;
END $$;
CREATE FUNCTION two() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (2);
  RETURN NULL;
END $$;
CREATE TRIGGER one AFTER UPDATE OF v ON t FOR EACH ROW EXECUTE FUNCTION one();
CREATE TRIGGER two AFTER UPDATE OF g ON t FOR EACH ROW EXECUTE FUNCTION two();
INSERT INTO t (id, v) VALUES (1, 1);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tv SET w = 5 WHERE id = 1;
END $$;
-- session a: f()
