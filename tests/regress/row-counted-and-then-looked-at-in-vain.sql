-- Two calls change different rows; each counts all rows, and then looks at the other's row in vain.
-- They commute, and a write skew was shown, since the count made the later look one that found the row.
-- run: isoscope audit FILE --level pg-rr --initial any
-- exit: 3
-- says not: write skew

CREATE TABLE p (id int PRIMARY KEY, code int UNIQUE);
CREATE TABLE c (id int PRIMARY KEY, code int);
CREATE FUNCTION ren(i int, b int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  o int;
  n int;
BEGIN
  SELECT count(*) INTO n FROM c;
  SELECT code INTO o FROM p WHERE id = i;
  UPDATE c SET code = b WHERE code = o;
  RETURN n;
END $$;
CREATE FUNCTION ins(i int, b int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO c VALUES (i, b);
  RETURN 1;
END $$;
