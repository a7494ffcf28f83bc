-- False "all assertions hold": a CHECK that is not modelled names the whole row, so that no UPDATE
-- of a column met it. The server answers 23514.
-- run: isoscope explore FILE
-- exit: 3
-- says: CHECK is not modelled
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, CHECK (length(t::text) < 6));
INSERT INTO t VALUES (1, 0);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN UPDATE t SET v = v + 100 WHERE id = 1; END $$;
-- session s: f()
-- assert SELECT v = 100 FROM t WHERE id = 1
