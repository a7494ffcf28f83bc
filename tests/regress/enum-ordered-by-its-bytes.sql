-- The values of an enum have the order in which they are declared; we sorted them as texts, and said
-- nothing. The first row is low, the largest high. The order of a state is that of its bytes.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: enum-ordered-by-its-bytes.sql:15: values of an enum are ordered by their bytes
-- says: enum-ordered-by-its-bytes.sql:19: values of an enum are ordered by their bytes
-- says not: enum-ordered-by-its-bytes.sql:23
CREATE TYPE level AS ENUM ('low', 'mid', 'high');
CREATE TYPE state AS ENUM ('done', 'open');
CREATE TABLE task (id int PRIMARY KEY, level level, state state, name text);
INSERT INTO task VALUES (1, 'high', 'open', 'a'), (2, 'low', 'done', 'b');

CREATE FUNCTION first_level() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT level FROM task ORDER BY level LIMIT 1);
END $$;
CREATE FUNCTION last_level() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT max(level) FROM task);
END $$;
CREATE FUNCTION first_state() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT state FROM task ORDER BY state, name LIMIT 1);
END $$;
-- session a: first_level(); last_level(); first_state()
