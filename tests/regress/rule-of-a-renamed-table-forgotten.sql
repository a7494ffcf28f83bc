-- A rule that is not modelled was remembered by the names of its table and columns. Once one of them
-- was renamed no statement met it, and the schedules were said to be complete.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: the program does what is not modelled
--
-- run: sed '/RENAME TO/d; s/TABLE old/TABLE item/' FILE > TEMP/column.sql; isoscope explore TEMP/column.sql --level pg-rc
-- exit: 3
-- says: the program does what is not modelled
CREATE TABLE old (id int PRIMARY KEY, a int NOT NULL CHECK (pg_backend_pid() > a));
ALTER TABLE old RENAME TO item;
ALTER TABLE item RENAME COLUMN a TO b;
INSERT INTO item VALUES (1, 0);
CREATE FUNCTION raise() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET b = b + 1 WHERE id = 1;
END $$;
-- session s: raise()
-- session t: raise()
