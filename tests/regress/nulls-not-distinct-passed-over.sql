-- NULLS NOT DISTINCT was passed over without a word: explore let two NULLs be there together.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 23505
-- says: all assertions hold

CREATE TABLE t (id int PRIMARY KEY, u int, UNIQUE NULLS NOT DISTINCT (u));
CREATE FUNCTION put(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (k, NULL);
END $$;
-- session a: put(1)
-- session b: put(2)
-- assert SELECT count(*) <= 1 FROM t WHERE u IS NULL
