-- ON UPDATE SET DEFAULT: the server checks that the default is there when all else has been done, and
-- another error may come first. Here the check follows at once, so nothing is complete or proved.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 3
-- says: the foreign key c_u_fkey is checked right behind what ON UPDATE does
-- says: c(id = 1, u = 2)
-- run: isoscope audit FILE --level ser --prove
-- exit: 3
-- says not: serializable: every

CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE);
CREATE TABLE c (id int PRIMARY KEY, u int DEFAULT 2 REFERENCES p (u) ON UPDATE SET DEFAULT);
INSERT INTO p VALUES (1, 1), (2, 2);
INSERT INTO c VALUES (1, 1);
CREATE FUNCTION f(k int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE p SET u = n WHERE id = k;
END $$;
-- session a: f(1, 7)
