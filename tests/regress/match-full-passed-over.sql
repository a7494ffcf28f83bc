-- MATCH FULL was passed over without a word: explore called itself complete, and let a reference be
-- half NULL.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: MATCH FULL is ignored

CREATE TABLE p (a int, b int, PRIMARY KEY (a, b));
CREATE TABLE c (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES p (a, b) MATCH FULL);
CREATE FUNCTION put(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO c VALUES (k, NULL, 1);
END $$;
-- session a: put(1)
-- assert SELECT count(*) = 0 FROM c
