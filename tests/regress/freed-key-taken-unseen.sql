-- An INSERT after a concurrent DELETE of its key was taken for a conflict, and this proved
-- serializable. REPEATABLE READ lets the INSERT wait and succeed.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: unknown
-- says not: serializable:

CREATE TABLE slot (id integer PRIMARY KEY);
CREATE TABLE price (id integer PRIMARY KEY, amount integer NOT NULL);
CREATE FUNCTION leave(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE price SET amount = p WHERE id = 1;
  DELETE FROM slot WHERE id = 1;
END; $$;
CREATE FUNCTION take() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  SELECT amount INTO n FROM price WHERE id = 1;
  INSERT INTO slot VALUES (1);
  RETURN n;
END; $$;
