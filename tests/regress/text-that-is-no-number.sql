-- A text that is no number became some number, without a note; the server ends the call with 22P02,
-- and with 22003 where the number does not fit.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: s1[1] aborts (22P02
-- says: s2[1] aborts (22003
-- says: t(id = 1, n = -7, is_open = true)
CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, is_open boolean NOT NULL);
INSERT INTO t VALUES (1, 5, false);
CREATE FUNCTION f(p text, q text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET n = p::int, is_open = q::boolean WHERE id = 1;
END $$;
-- session s1: f('7x', 'on')
-- session s2: f('3000000000', 'on')
-- session s3: f(' -7 ', 'Ye')
