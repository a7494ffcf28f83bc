-- The DELETE of p takes rows of c and d with it, and d refers to c: the foreign key was checked
-- between the two, and refused what the server does, which looks when both are gone.
-- run: isoscope explore FILE --outcomes
-- exit: 2
-- says: foreign key d_cid_fkey refuses it, which is not modelled

-- run: isoscope audit FILE --prove
-- exit: 3
-- says not: serializable: every

CREATE TABLE p (id integer PRIMARY KEY);
CREATE TABLE c (id integer PRIMARY KEY, pid integer REFERENCES p ON DELETE CASCADE);
CREATE TABLE d (id integer PRIMARY KEY, pid integer REFERENCES p ON DELETE CASCADE,
                cid integer REFERENCES c);
CREATE FUNCTION del(k integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM p WHERE id = k;
END; $$;
CREATE FUNCTION look() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM p);
END; $$;
INSERT INTO p VALUES (1);
INSERT INTO c VALUES (1, 1);
INSERT INTO d VALUES (1, 1, 1);
-- session a: del(1)
