-- An INSERT that refers to a UNIQUE value was shown beside an UPDATE of that value which its snapshot
-- does not have. The server finds the row locked or changed in its key, and ends the call (40001).
-- run: isoscope audit FILE --level pg-rr
-- exit: 3
-- says not: anomaly

CREATE TABLE p (id int PRIMARY KEY, u int NOT NULL UNIQUE);
CREATE TABLE c (id int PRIMARY KEY, u int REFERENCES p (u));
CREATE FUNCTION rename(k int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE p SET u = n WHERE id = k;
END $$;
CREATE FUNCTION add_child(i int, k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO c VALUES (i, k);
END $$;
