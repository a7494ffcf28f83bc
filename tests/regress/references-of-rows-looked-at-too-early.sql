-- Each row of an INSERT was asked for the row that it refers to before the next one was there. The
-- server asks behind the last row: the second one is refused first, by its key.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: a[1] commits: result = 'key'
-- says: b[1] commits: result = 'key'
-- says: c[1] commits: result = 'reference'
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent);
CREATE TABLE source (id int PRIMARY KEY);
INSERT INTO parent VALUES (1);
INSERT INTO child VALUES (1, 1);
INSERT INTO source VALUES (5), (6);
CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO child VALUES (2, 99), (1, 1);
  RETURN 'both';
EXCEPTION
  WHEN unique_violation THEN RETURN 'key';
  WHEN foreign_key_violation THEN RETURN 'reference';
END $$;
CREATE FUNCTION g() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO child SELECT 7, id FROM source;
  RETURN 'both';
EXCEPTION
  WHEN unique_violation THEN RETURN 'key';
  WHEN foreign_key_violation THEN RETURN 'reference';
END $$;
CREATE FUNCTION h() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO child VALUES (3, 1), (4, 98);
  RETURN 'both';
EXCEPTION
  WHEN unique_violation THEN RETURN 'key';
  WHEN foreign_key_violation THEN RETURN 'reference';
END $$;
-- session a: f()
-- session b: g()
-- session c: h()
