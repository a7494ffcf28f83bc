-- Rows that COPY brings are not there, and those that refer to them must not be an error.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 3
-- says: COPY is ignored
-- says: refers to a row of 'p' that is not there

CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE item (id int PRIMARY KEY, p int REFERENCES p);
COPY p FROM 'p.csv';
INSERT INTO item VALUES (1, 1);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM item; RETURN 1; END $$;
-- session a: f()
