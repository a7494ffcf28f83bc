-- False anomaly: rows at the start referred to parents that are not there, so that the lock on the parent locked nothing.
-- run: isoscope audit FILE --level pg-rc --prove --initial any
-- exit: 0
-- says: serializable: every execution

CREATE TABLE parent (id integer PRIMARY KEY, lim integer NOT NULL);
CREATE TABLE child (id integer PRIMARY KEY, pid integer NOT NULL REFERENCES parent(id), st integer NOT NULL);
CREATE FUNCTION act(c integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE p integer; n integer;
BEGIN
  SELECT pid INTO p FROM child WHERE id = c;
  PERFORM 1 FROM parent WHERE id = p FOR UPDATE;
  SELECT count(*) INTO n FROM child WHERE pid = p AND st = 1;
  IF n >= 1 THEN
    RETURN false;
  END IF;
  UPDATE child SET st = 1 WHERE id = c;
  RETURN true;
END $$;
