-- A procedure that commits is several transactions, which only PostgreSQL's levels execute. Others
-- name the procedure and its line, and audit proves nothing beside it.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 1
-- says: a[1/2] commits
-- says: t(id = 2, v = 0)

-- run: isoscope explore FILE --level pg-ser --outcomes
-- exit: 1
-- says: fails: invariant SELECT sum(v) = 10 FROM t

-- run: isoscope run FILE --store weak --level pg-rr --runs 5
-- exit: 1

-- run: isoscope explore FILE --level si
-- exit: 2
-- says: :36:3
-- says: move ends its transaction here and goes on, which only PostgreSQL's levels execute

-- run: isoscope run FILE --store serial
-- exit: 2
-- says: move ends its transaction here and goes on

-- run: isoscope explore FILE --server mariadb
-- exit: 2
-- says: COMMIT or ROLLBACK in a procedure is not executed as MariaDB does

-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: move ends its transaction by COMMIT and goes on, which audit does not model

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE PROCEDURE move(a int, b int) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = v - 1 WHERE id = a;
  COMMIT;
  UPDATE t SET v = v + 1 WHERE id = b;
END $$;
CREATE FUNCTION total() RETURNS int LANGUAGE sql AS 'SELECT sum(v) FROM t';
INSERT INTO t VALUES (1, 10), (2, 0);
-- session a: move(1, 2)
-- session b: total()
-- invariant SELECT sum(v) = 10 FROM t
