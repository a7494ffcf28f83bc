-- A bigint counted as a possible moment wherever the schema has a timestamp, and its text as a gap.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: 1 history, all assertions hold
CREATE TABLE t (id bigint PRIMARY KEY, at timestamp, s text NOT NULL);
CREATE FUNCTION f(p bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (p, NULL, (p + 1)::text);
  UPDATE t SET s = id::text || s WHERE id = p;
END $$;
-- session s1: f(5)
-- assert SELECT s = '56' FROM t WHERE id = 5
