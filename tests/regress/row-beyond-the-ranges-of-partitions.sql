-- Partitions that are ranges, with an open end: only rows below them are refused, and none of a
-- table that has a DEFAULT partition.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: a[1] aborts (23514
-- says: b[1] commits: result = 12
-- says: u(id = 8)
-- says not: not modelled

CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (10);
CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (MAXVALUE);
CREATE TABLE u (id int PRIMARY KEY) PARTITION BY LIST (id);
CREATE TABLE u1 PARTITION OF u DEFAULT;
CREATE FUNCTION f(k int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO t VALUES (k);
  INSERT INTO u VALUES (k - 4);
  RETURN k; END $$;
-- session a: f(0)
-- session b: f(12)
