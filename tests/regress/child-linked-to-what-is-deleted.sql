-- A foreign key was looked at for rows that are inserted, not for those that an UPDATE makes refer to
-- something: link and delp, neither of which sees the other, were shown to commit both. On the
-- server delp waits for link, and then fails, as it does where UNIQUE columns are referred to.
-- run: isoscope audit FILE --level pg-rr --cycle 2 --only delp,link
-- exit: 3
-- says not: anomaly
-- run: isoscope audit FILE --level pg-rr --cycle 2 --only recode,add
-- says not: anomaly
-- exit: 3

CREATE TABLE p (id int PRIMARY KEY, code int UNIQUE);
CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p (id));
CREATE TABLE d (id int PRIMARY KEY, code int REFERENCES p (code));
CREATE FUNCTION delp(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM p WHERE id = i;
  IF FOUND THEN RETURN 1; END IF;
  RETURN 0;
END $$;
CREATE FUNCTION link(k int, i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  UPDATE c SET p = i WHERE id = k;
  IF FOUND THEN RETURN 1; END IF;
  RETURN 0;
END $$;
CREATE FUNCTION recode(i int, x int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  UPDATE p SET code = x WHERE id = i;
  IF FOUND THEN RETURN 1; END IF;
  RETURN 0;
END $$;
CREATE FUNCTION add(k int, x int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO d VALUES (k, x);
  RETURN 1;
END $$;
