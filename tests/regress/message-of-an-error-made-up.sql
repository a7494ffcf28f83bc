-- SQLERRM was the text of the RAISE, and for other errors what we say of them.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 3
-- says: what the server says of this error (SQLERRM) is not known
-- says not: RAISE EXCEPTION 'no
CREATE TABLE t (id int PRIMARY KEY, x text);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'no %', 3;
EXCEPTION WHEN OTHERS THEN
  INSERT INTO t VALUES (1, SQLERRM);
END $$;
-- session s: f()
