-- A handler of string_data_right_truncation made the answer unknown, though the model raises it.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, name varchar(3));
INSERT INTO t VALUES (1, 'abc');
CREATE FUNCTION rename(p text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET name = p WHERE id = 1;
EXCEPTION WHEN string_data_right_truncation THEN
  UPDATE t SET name = left(p, 3) WHERE id = 1;
END $$;
-- session a: rename('wxyz')
-- assert SELECT name = 'wxy' FROM t
