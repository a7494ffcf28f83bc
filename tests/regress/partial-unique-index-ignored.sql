-- A UNIQUE index of some of the rows was passed over: explore broke a claim that the index keeps, and
-- audit showed two calls that both get the seat, which the server refuses with 23505.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 23505
-- says: all assertions hold
-- run: isoscope audit FILE --level pg-rr --cycle 2
-- exit: 3
-- says not: anomaly

CREATE TABLE seat (id int PRIMARY KEY, number int NOT NULL, is_taken boolean NOT NULL);
CREATE UNIQUE INDEX one ON seat (number) WHERE is_taken;
CREATE FUNCTION take(k int, x int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT count(*) INTO n FROM seat WHERE number = x AND is_taken;
  IF n > 0 THEN RETURN 0; END IF;
  INSERT INTO seat VALUES (k, x, true);
  RETURN 1;
END $$;
-- session a: take(1, 5)
-- session b: take(2, 5)
-- assert SELECT count(*) <= 1 FROM seat WHERE is_taken
