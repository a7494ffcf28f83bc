-- RETURN NEW of a table with one column was taken for another row, and functions that fire the
-- trigger were left out.
-- run: isoscope audit FILE --level pg-rr
-- exit: 0
-- says not: left out
CREATE TABLE word (w integer PRIMARY KEY);
CREATE FUNCTION checked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.w < 0 THEN RAISE EXCEPTION 'no such word'; END IF;
  RETURN NEW;
END; $$;
CREATE TRIGGER check_word BEFORE INSERT ON word FOR EACH ROW EXECUTE FUNCTION checked();
CREATE FUNCTION add_word(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO word VALUES (p);
END; $$;
