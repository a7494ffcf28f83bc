-- Definitions of levels give fresh numbers that no row has; here rows at the start have the first
-- numbers of the sequence, and the server says 23505.
-- run: isoscope explore FILE --level si
-- exit: 2
-- says: rows at the start have numbers that 'item_id_seq' has not drawn

CREATE TABLE item (id serial PRIMARY KEY, stock int);
INSERT INTO item VALUES (1, 5), (2, 7);
CREATE FUNCTION add_item(s int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN INSERT INTO item (stock) VALUES (s) RETURNING id INTO x; RETURN x; END $$;
-- session a: add_item(3)
-- session b: add_item(4)
