-- ON DELETE SET NULL (b) set all columns of the foreign key.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says: c(id = 1, a = 1, b = NULL)

CREATE TABLE p (a integer, b integer, PRIMARY KEY (a, b));
CREATE TABLE c (id integer PRIMARY KEY, a integer, b integer,
                FOREIGN KEY (a, b) REFERENCES p ON DELETE SET NULL (b));
CREATE FUNCTION del(k integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM p WHERE a = k;
END; $$;
INSERT INTO p VALUES (1, 1);
INSERT INTO c VALUES (1, 1, 1);
-- session a: del(1)
