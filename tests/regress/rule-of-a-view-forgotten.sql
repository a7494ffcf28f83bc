-- False "all assertions hold": the rule of a view was one of a table that no call meets, and the
-- server does not run this UPDATE.
-- run: isoscope explore FILE
-- exit: 3
-- says: rules are not modelled
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0);
CREATE VIEW w AS SELECT id, v FROM t;
CREATE RULE nothing AS ON UPDATE TO w DO INSTEAD NOTHING;
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN UPDATE w SET v = v + 1 WHERE id = 1; END $$;
-- session s: f()
-- assert SELECT v = 1 FROM t WHERE id = 1
