-- SELECT max(n) + 1 INTO v left FOUND as it was, as if the query was part of an expression: what
-- follows IF FOUND was never done, and the two calls were proved serializable.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
--
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 1
-- says: lost update

CREATE TABLE counter (id integer PRIMARY KEY, n integer NOT NULL);
INSERT INTO counter VALUES (1, 0);
CREATE FUNCTION bump(p_id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v integer;
BEGIN
  SELECT max(n) + 1 INTO v FROM counter WHERE id = p_id;
  IF FOUND THEN
    UPDATE counter SET n = v WHERE id = p_id;
  END IF;
END;
$$;
-- session a: bump(1)
-- session b: bump(1)
-- assert SELECT n > 0 FROM counter WHERE id = 1
