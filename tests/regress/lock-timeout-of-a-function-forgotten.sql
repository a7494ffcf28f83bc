-- False "all assertions hold": with its lock_timeout one of the calls gives up and returns -1.
-- run: isoscope explore FILE
-- exit: 3
-- says: SET lock_timeout of a function is not modelled
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0);
CREATE FUNCTION g(a int) RETURNS int LANGUAGE plpgsql SET lock_timeout = '1ms' AS $$ BEGIN UPDATE t SET v = v + 1 WHERE id = a; RETURN 1; EXCEPTION WHEN lock_not_available THEN RETURN -1; END $$;
-- session s: g(1)
-- session u: g(1)
-- assert SELECT v = 2 FROM t WHERE id = 1
