-- WHEN OTHERS caught the error of ASSERT, which the server lets pass (also 57014).
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 1 WHERE id = 1;
  BEGIN
    ASSERT p = 9;
  EXCEPTION WHEN OTHERS THEN
    UPDATE t SET v = 2 WHERE id = 1;
  END;
END $$;
-- session s: f(1)
-- assert SELECT v = 0 FROM t WHERE id = 1
