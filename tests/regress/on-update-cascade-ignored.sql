-- What a foreign key does ON UPDATE was ignored: rows went on referring to the old key, and nothing was
-- proved of any program with such a schema.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 2 end states
-- says: child(id = 9, code = 7, v = 1)
-- run: isoscope explore FILE --level pg-rr
-- exit: 0
-- says: 4 end states
-- run: isoscope audit FILE --level pg-rc --only recode,count_children
-- exit: 1
-- says: read skew between recode and count_children
-- says: UPDATE "child" SET "code" = NEW."code" WHERE "code" = OLD."code"
-- run: isoscope audit FILE --level ser --prove --only recode,bump,count_children
-- exit: 0
-- says: serializable: every execution, however long
-- run: isoscope audit FILE --level pg-rr --prove --only add_child,count_children
-- exit: 0
-- says: serializable: every execution, however long

CREATE TABLE parent (id int PRIMARY KEY, code int NOT NULL UNIQUE);
CREATE TABLE child (id int PRIMARY KEY, code int REFERENCES parent (code) ON UPDATE CASCADE, v int NOT NULL);
INSERT INTO parent VALUES (1, 1), (2, 2);
INSERT INTO child VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7);
CREATE FUNCTION recode(k int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE parent SET code = n WHERE id = k;
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
CREATE FUNCTION count_children(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE a int; b int;
BEGIN
  SELECT code INTO a FROM parent WHERE id = k;
  SELECT count(*) INTO b FROM child WHERE code = a;
  RETURN b;
END $$;
-- session a: recode(1, 7)
-- session b: add_child(9, 1)
