-- A text that only a trigger's RAISE asks for had no number: the audit ended with "internal error".
-- run: isoscope audit FILE --level pg-rc
-- exit: 1
-- says not: internal error

CREATE TABLE item (id integer PRIMARY KEY, state text NOT NULL, n integer NOT NULL);
CREATE FUNCTION check_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'gone' THEN RAISE EXCEPTION 'no'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER item_is_there BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION check_item();
CREATE FUNCTION take(p_id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v integer;
BEGIN
  SELECT n INTO v FROM item WHERE id = p_id;
  UPDATE item SET n = v - 1 WHERE id = p_id;
END $$;
