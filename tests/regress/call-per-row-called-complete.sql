-- The server calls next_number for each row that the UPDATE finds; here it runs once before it. explore said that all was
-- explored.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: unknown: the program does what is not modelled
-- says: next_number(…) is called inside of a statement
-- run: isoscope explore FILE --level si
-- exit: 3
-- says: unknown: the program does what is not modelled
-- run: isoscope explore FILE --level pg-rc --json
-- exit: 3
-- says: "not_modelled":[{"line":
CREATE TABLE seq (id integer PRIMARY KEY, n integer NOT NULL);
CREATE TABLE doc (id integer PRIMARY KEY, number integer);
INSERT INTO seq VALUES (1, 0);
INSERT INTO doc VALUES (1, 0), (2, 0);

CREATE FUNCTION next_number() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  UPDATE seq SET n = n + 1 WHERE id = 1 RETURNING n INTO x;
  RETURN x;
END; $$;
CREATE FUNCTION stamp(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE doc SET number = next_number() WHERE id = p;
END; $$;

-- session a: stamp(1)
-- session b: stamp(2)
