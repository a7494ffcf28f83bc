-- ON UPDATE RESTRICT let a key go that another row of the same UPDATE has got, as NO ACTION does.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: a[1] aborts (23503
-- says: b[1] commits

CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE);
CREATE TABLE c (id int PRIMARY KEY, u int REFERENCES p (u) ON UPDATE RESTRICT);
CREATE TABLE q (id int PRIMARY KEY, u int UNIQUE);
CREATE TABLE d (id int PRIMARY KEY, u int REFERENCES q (u));
INSERT INTO p VALUES (1, 1), (2, 2);
INSERT INTO c VALUES (1, 1);
INSERT INTO q VALUES (1, 1), (2, 2);
INSERT INTO d VALUES (1, 1);
CREATE FUNCTION strict() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE p SET u = u - 1;
END $$;
CREATE FUNCTION lenient() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE q SET u = u - 1;
END $$;
-- session a: strict()
-- session b: lenient()
