-- U&'d\0061t' ended the reading with "the scanner lost its way in this text", without a place.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says: t(id = 1, s = 'data')
-- says: t(id = 2, s = 'it''s')
-- says: t(id = 3, s = 'two lines')

CREATE TABLE t (id int PRIMARY KEY, s text);
INSERT INTO t VALUES (1, U&'d\0061t'), (2, u&'it''!0073' UESCAPE '!'), (3, U&'two '
  'l\0069nes');
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET U&"\0073" = s || U&'\0061' WHERE id = 1;
  RETURN 1;
END $$;
-- session a: f()
