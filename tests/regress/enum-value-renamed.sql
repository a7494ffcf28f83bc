-- A value of an enum was still one after ALTER TYPE … RENAME VALUE.
-- run: isoscope explore FILE --outcomes
-- exit: 3
-- says: s[1] aborts (22P02
-- says: s[2] commits

CREATE TYPE state AS ENUM ('new', 'done');
ALTER TYPE state RENAME VALUE 'new' TO 'open';
CREATE TABLE job (id integer PRIMARY KEY, st state);

CREATE FUNCTION put(p integer, q text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO job VALUES (p, q::state);
END; $$;

-- session s: put(1, 'new'); put(2, 'open')
