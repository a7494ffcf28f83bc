-- A row at the start that refers to no row was taken, and one that another one is in the way of;
-- rows that refer to later ones are fine where the foreign key comes last.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 2
-- says: 12:34: error: a row of 'item' refers to a row of 'p' that is not there

CREATE TABLE p (id int PRIMARY KEY, q int);
CREATE TABLE q (id int PRIMARY KEY);
CREATE TABLE item (id int PRIMARY KEY, p int);
INSERT INTO p VALUES (1, 5), (2, NULL);
INSERT INTO q VALUES (5);
INSERT INTO item VALUES (1, 1), (2, 3);
ALTER TABLE p ADD FOREIGN KEY (q) REFERENCES q (id);
ALTER TABLE item ADD FOREIGN KEY (p) REFERENCES p (id);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM item; RETURN 1; END $$;
-- session a: f()
