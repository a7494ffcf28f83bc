-- Rows at the start were taken although the server refuses them.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 2
-- says: 8:26: error: a row of 'item' does not meet its CHECK

CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE item (id int PRIMARY KEY, stock int CHECK (stock >= 0), u int UNIQUE, p int REFERENCES p (id));
INSERT INTO item VALUES (1, -3, 1, 77), (2, 3000000000, 1, NULL);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM item WHERE id = 2; RETURN 1; END $$;
-- session a: f()
-- assert SELECT stock >= 0 FROM item
