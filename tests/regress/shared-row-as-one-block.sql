-- The repair by a row that all calls write was printed as one block at the first statement, as if
-- the table were made there.
-- run: isoscope audit FILE --advise
-- exit: 1
-- says: + -- as the first statement of leave (line
CREATE TABLE doctor (id int PRIMARY KEY, on_call boolean NOT NULL);
CREATE FUNCTION leave(p int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN
  SELECT count(*) INTO n FROM doctor WHERE on_call;
  IF n > 1 THEN UPDATE doctor SET on_call = false WHERE id = p; END IF;
  RETURN n;
END $$;
