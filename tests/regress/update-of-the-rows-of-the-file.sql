-- False "all assertions hold": statements outside of functions were passed over without a word.
-- run: isoscope explore FILE
-- exit: 3
-- says: UPDATE outside of functions is ignored
-- says: SELECT outside of functions is ignored
-- says: the rows of INSERTs before this line are as if they came behind it
CREATE TABLE t (id int PRIMARY KEY, v int DEFAULT 0);
SELECT set_config('search_path', '', false);
INSERT INTO t (id) VALUES (1);
ALTER TABLE t ALTER COLUMN v SET DEFAULT 1;
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN UPDATE t SET v = v + 1 WHERE id = 1; END $$;
UPDATE t SET v = 5;
SELECT f();
-- session s: f()
-- assert SELECT v = 2 FROM t WHERE id = 1
