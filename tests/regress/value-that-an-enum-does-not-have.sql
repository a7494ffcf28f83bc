-- Values of an enum were any texts: audit showed a lost update of a row whose state was neither of the
-- two that there are. With a state that there is, the lost update of the other function stays.
-- run: isoscope audit FILE --only mend --cycle 2
-- says not: anomaly
-- exit: 3
-- run: isoscope audit FILE --only finish --cycle 2
-- says: lost update
-- exit: 1

CREATE TYPE state AS ENUM ('new', 'done');
CREATE TABLE task (id int PRIMARY KEY, s state NOT NULL, n int NOT NULL);
CREATE FUNCTION mend(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x state;
BEGIN
  SELECT s INTO x FROM task WHERE id = k;
  IF x <> 'new' AND x <> 'done' THEN
    UPDATE task SET s = 'new' WHERE id = k;
    RETURN 1;
  END IF;
  RETURN 0;
END $$;
CREATE FUNCTION finish(k int, x state) RETURNS int LANGUAGE plpgsql AS $$
DECLARE m int;
BEGIN
  SELECT n INTO m FROM task WHERE id = k AND s = x;
  UPDATE task SET n = m + 1 WHERE id = k AND s = x;
  RETURN m;
END $$;
