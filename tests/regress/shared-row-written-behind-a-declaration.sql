-- A row that all calls write first was said to make this safe, but DECLARE has asked before: no
-- statement can come earlier.
-- run: isoscope audit FILE --advise
-- exit: 1
-- says not: audit_turn

CREATE TABLE doctor (id integer PRIMARY KEY, here integer NOT NULL);
CREATE FUNCTION leave(p integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n integer := (SELECT count(*) FROM doctor WHERE here = 1);
BEGIN
  IF n > 1 THEN UPDATE doctor SET here = 0 WHERE id = p; END IF;
END; $$;
