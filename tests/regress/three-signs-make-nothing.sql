-- The parser folds the signs into the constant, and only one of them was read: v became 0.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 5);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = (- (- -7)) WHERE id = 1;
END $$;
-- session s1: f()
-- assert SELECT v = -7 FROM t WHERE id = 1
