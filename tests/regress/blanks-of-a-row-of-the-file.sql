-- Rows of the file kept blanks that do not fit into their column, which the server cuts off.
-- run: isoscope explore FILE
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v varchar(3));
INSERT INTO t VALUES (1, 'abc  ');
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN UPDATE t SET id = 2 WHERE v = 'abc'; END $$;
-- session s: f()
-- assert SELECT count(*) = 1 FROM t WHERE id = 2
