-- A variable that a program calls "(sqlerrm)" was taken for the message of an error, which is not
-- known where it is NULL.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: t(id = 1, x = 'none')
-- says not: is not known
CREATE TABLE t (id int PRIMARY KEY, x text);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE "(sqlerrm)" text;
BEGIN
  INSERT INTO t VALUES (1, coalesce("(sqlerrm)", 'none'));
END $$;
-- session s: f()
