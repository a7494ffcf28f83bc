-- A function whose statement fires a trigger FOR EACH STATEMENT was left out. It runs once, also
-- where no row was changed.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: stats(id = 1, n = 2)
-- run: isoscope audit FILE --level pg-rc
-- exit: 1
-- says: UPDATE stats SET n = old + 1 WHERE id = 1
-- run: isoscope audit FILE --level ser --prove
-- exit: 0
-- says: serializable: every execution, however long

CREATE TABLE item (id int PRIMARY KEY, v int NOT NULL);
CREATE TABLE stats (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO item VALUES (1, 5);
INSERT INTO stats VALUES (1, 0);
CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE old int;
BEGIN
  SELECT n INTO old FROM stats WHERE id = 1;
  UPDATE stats SET n = old + 1 WHERE id = 1;
  RETURN NULL;
END $$;
CREATE TRIGGER count_changes AFTER UPDATE ON item FOR EACH STATEMENT EXECUTE FUNCTION count_changes();
CREATE FUNCTION change(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET v = v + 1 WHERE id = k;
END $$;
-- session a: change(1); change(7)
