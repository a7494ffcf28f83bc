-- The trigger of c ran right behind the DELETE of c, and counted rows of d that the server has
-- deleted by then: it runs the triggers of such rows when all that was due before has been done.
-- run: isoscope explore FILE --outcomes
-- exit: 3
-- says: the trigger count_d runs right behind what ON DELETE does to its table

CREATE TABLE p (id integer PRIMARY KEY);
CREATE TABLE c (id integer PRIMARY KEY, pid integer REFERENCES p ON DELETE CASCADE);
CREATE TABLE d (id integer PRIMARY KEY, pid integer REFERENCES p ON DELETE CASCADE);
CREATE TABLE log (id integer PRIMARY KEY, n integer);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  SELECT count(*) INTO x FROM d;
  INSERT INTO log VALUES (OLD.id, x);
  RETURN NULL;
END; $$;
CREATE TRIGGER count_d AFTER DELETE ON c FOR EACH ROW EXECUTE FUNCTION note();
CREATE FUNCTION del(k integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM p WHERE id = k;
END; $$;
INSERT INTO p VALUES (1);
INSERT INTO c VALUES (1, 1);
INSERT INTO d VALUES (1, 1);
-- session a: del(1)
