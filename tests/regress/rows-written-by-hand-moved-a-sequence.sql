-- Rows at the start with explicit keys moved the sequence of a serial column, where the server's
-- first numbers collide with them (23505).
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 1
-- says: 23505

CREATE TABLE item (id serial PRIMARY KEY, stock int);
INSERT INTO item VALUES (1, 5), (2, 7);
CREATE FUNCTION add_item(s int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN INSERT INTO item (stock) VALUES (s) RETURNING id INTO x; RETURN x; END $$;
-- session a: add_item(3)
-- session b: add_item(4)
-- assert SELECT count(*) = 4 FROM item
