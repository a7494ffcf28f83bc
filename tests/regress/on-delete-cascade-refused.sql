-- A function that deletes a row to which others refer ON DELETE CASCADE was left out, so that what it does to other calls
-- was not looked at. Where the transaction keeps a snapshot, a child that came later ends it.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 2 end states
-- run: isoscope explore FILE --level pg-rr
-- exit: 0
-- says: 4 end states
-- run: isoscope audit FILE --level pg-rc --only drop_parent,bump
-- exit: 1
-- says: between drop_parent and bump
-- says: line 18: DELETE FROM "child" WHERE "p" = OLD."id"
-- run: isoscope audit FILE --level ser --prove --only drop_parent,bump
-- exit: 0
-- says: serializable: every execution, however long

CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY, p int NOT NULL REFERENCES parent (id) ON DELETE CASCADE, v int NOT NULL);
CREATE TABLE grand (id int PRIMARY KEY, c int REFERENCES child (id) ON DELETE SET NULL);
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7);
INSERT INTO grand VALUES (1, 1), (2, 3);
CREATE FUNCTION drop_parent(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM parent WHERE id = k;
END $$;
CREATE FUNCTION add_child(i int, k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO child VALUES (i, k, 1);
END $$;
CREATE FUNCTION bump(i int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT v INTO n FROM child WHERE id = i;
  UPDATE child SET v = n + 1 WHERE id = i;
END $$;
-- session a: drop_parent(1)
-- session b: add_child(9, 1)
