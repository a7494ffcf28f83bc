-- The rows of a table without a primary key were compared in the order of their INSERTs, so runs
-- that end as a serial order does were said to end as none.
-- run: isoscope run FILE --store weak --level pg-rc --runs 20
-- exit: 0
-- says not: no serial order ends like this
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says not: no serial order ends like this

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE TABLE log (p int NOT NULL);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  UPDATE t SET v = v + 1 WHERE id = 1;
  INSERT INTO log VALUES (1);
END $$;
CREATE FUNCTION g() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO log VALUES (2);
  UPDATE t SET v = v * 2 WHERE id = 1;
END $$;
INSERT INTO t VALUES (1, 1);
-- session a: f()
-- session b: g()
