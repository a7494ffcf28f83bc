-- False proof: a unique index ON ONLY a partitioned table holds in no partition.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: not modelled: the index 'u' of ONLY a partitioned table is ignored
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3

CREATE TABLE bk (id serial, room integer NOT NULL, day integer NOT NULL) PARTITION BY LIST (room); CREATE TABLE bk1 PARTITION OF bk FOR VALUES IN (1); CREATE UNIQUE INDEX u ON ONLY bk (room, day);
CREATE FUNCTION book(p_room integer, p_day integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM bk WHERE room = p_room AND day = p_day) THEN
    RETURN false;
  END IF;
  INSERT INTO bk (room, day) VALUES (p_room, p_day);
  RETURN true;
END $$;
