-- ON DELETE SET DEFAULT let the default itself be deleted, and rows went on referring to it. The
-- server looks once more behind the change, and ends with 23503.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says: a[1] aborts (23503
-- says: p(id = 9)

CREATE TABLE p (id integer PRIMARY KEY);
CREATE TABLE c (id integer PRIMARY KEY, pid integer DEFAULT 9 REFERENCES p ON DELETE SET DEFAULT);
CREATE FUNCTION del(k integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM p WHERE id = k;
END; $$;
INSERT INTO p VALUES (9);
INSERT INTO c VALUES (1, 9);
-- session a: del(9)
