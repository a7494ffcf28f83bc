-- The text of a timestamp was that of a number, and in proofs the text of the equal number, too.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: this may be the text of a moment, or of a number
CREATE TABLE t (id int PRIMARY KEY, at timestamp NOT NULL, s text NOT NULL);
CREATE FUNCTION f(p timestamp) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (1, p, p::text);
END $$;
-- session s1: f(5)
