-- A cast of a text to an enum was dropped: what the server refuses (22P02) found no row.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: a[1] aborts (22P02
-- says: b[1] commits: result = 1
-- says: c[1] aborts (22P02
CREATE TYPE state AS ENUM ('new', 'paid');
CREATE TABLE bill (id int PRIMARY KEY, state state NOT NULL, note text);
INSERT INTO bill VALUES (1, 'new', 'old');
CREATE FUNCTION num_in(p text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM bill WHERE state = p::state);
END $$;
CREATE FUNCTION num_noted() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM bill WHERE note::state = 'new');
END $$;
-- session a: num_in('sent')
-- session b: num_in('new')
-- session c: num_noted()
