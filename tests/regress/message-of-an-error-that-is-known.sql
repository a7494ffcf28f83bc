-- A RAISE without values says its text, and a division by zero what the server says. A message
-- that nothing but a notice shows does not matter.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: t(id = 1, x = 'nothing left')
-- says: t(id = 2, x = 'division by zero')
-- says: t(id = 3, x = '23505')
CREATE TABLE t (id int PRIMARY KEY, x text);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    RAISE EXCEPTION 'nothing left';
  EXCEPTION WHEN OTHERS THEN
    INSERT INTO t VALUES (1, SQLERRM);
  END;
  BEGIN
    p := 1 / p;
  EXCEPTION WHEN OTHERS THEN
    INSERT INTO t VALUES (2, SQLERRM);
  END;
  BEGIN
    INSERT INTO t VALUES (1, 'again');
  EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'failed: %', SQLERRM;
    INSERT INTO t VALUES (3, SQLSTATE);
  END;
END $$;
-- session s: f(0)
