-- At SERIALIZABLE the server notices the row that ON CONFLICT DO NOTHING found and drop_slot deletes,
-- and ends keep_slot with 40001. As keys of slot are freed and taken again, pg-ser counted as pg-rr
-- for runs, too: one that the server refuses was shown as an anomaly.
-- run: isoscope audit FILE --level pg-ser --cycle 2
-- exit: 3
-- says: SERIALIZABLE may or may not notice some cycles: keys of slot are freed and taken again
-- run: isoscope audit FILE --level pg-ser --cycle 2 --prove
-- exit: 3
-- says: keys of slot are freed and taken again
-- run: isoscope audit FILE --level pg-rr --cycle 2
-- exit: 1

CREATE TABLE slot (id integer PRIMARY KEY, owner integer NOT NULL);
CREATE TABLE doctor (id integer PRIMARY KEY, on_call boolean NOT NULL);
CREATE FUNCTION keep_slot(s integer, d integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO slot VALUES (s, d) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    UPDATE doctor SET on_call = false WHERE id = d;
  END IF;
END; $$;
CREATE FUNCTION drop_slot(s integer, d integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE busy boolean;
BEGIN
  SELECT on_call INTO busy FROM doctor WHERE id = d;
  IF busy THEN
    DELETE FROM slot WHERE id = s;
  END IF;
END; $$;
