-- THEN t.v = … of a CASE expression was taken for the assignment of a field: "unknown name
-- 'isoscope_field_'".
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
-- says not: isoscope_field_
CREATE TABLE t (id int PRIMARY KEY, v int, w int);
INSERT INTO t VALUES (1, 5, 5), (2, 5, 6);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  UPDATE t SET w = 0 WHERE CASE WHEN t.v = 5 THEN t.w = t.v ELSE t.w = 7 END;
  FOR r IN SELECT id, v FROM t ORDER BY id LOOP
    IF r.id = 2 THEN r.v = CASE WHEN r.v = 5 THEN 8 END; UPDATE t SET v = r.v WHERE id = 2; END IF;
  END LOOP;
END $$;
-- session a: f()
-- assert SELECT (id = 1 AND v = 5 AND w = 0) OR (id = 2 AND v = 8 AND w = 6) FROM t
