-- A DELETE from a table that refers to itself ON DELETE SET NULL was refused: what it does to other
-- rows of the table ends there.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: node(id = 2, up = NULL)
-- says: node(id = 3, up = 2)
-- run: isoscope audit FILE --level ser --prove
-- exit: 0
-- says: serializable: every execution, however long

CREATE TABLE node (id int PRIMARY KEY, up int REFERENCES node ON DELETE SET NULL);
INSERT INTO node VALUES (1, NULL), (2, 1), (3, 2);
CREATE FUNCTION prune(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM node WHERE id = k;
END $$;
CREATE FUNCTION hang(k int, u int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node SET up = u WHERE id = k;
END $$;
-- session a: prune(1)
