-- False "all assertions hold": the row that the body has changed is passed over when it is fetched.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: the server may not lock all rows of this loop
CREATE TABLE g (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO g VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0);
CREATE FUNCTION f(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; x int := 0;
BEGIN
  FOR r IN SELECT id FROM g ORDER BY id FOR UPDATE LOOP
    UPDATE g SET v = v + 1 WHERE id = 11;
    x := x + 1;
  END LOOP;
  RETURN x;
END $$;
-- session a: f(1)
-- session b: f(99)
-- assert SELECT v = 24 FROM g WHERE id = 11
