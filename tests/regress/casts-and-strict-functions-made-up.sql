-- A cast to text gave 'text(5)', and 'text(NULL)' where the server has NULL; length counted bytes. None
-- of it was noted, so that claims were said to hold, or to fail, of values that no server has.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v int, w text, n int);
INSERT INTO t VALUES (1, 5, '12', 0), (2, NULL, NULL, 0);
CREATE FUNCTION f(p int, m int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET n = n + 1 WHERE id = 1 AND v::text = '5';
  UPDATE t SET n = n + 1 WHERE id = 1 AND w::int = 12;
  UPDATE t SET n = n + 1 WHERE id = 2 AND v::text IS NULL;
  UPDATE t SET n = n + 1 WHERE id = 2 AND w::int IS NULL;
  UPDATE t SET n = n + 1 WHERE id = 2 AND md5(w) IS NULL AND hashtext(w) IS NULL;
  UPDATE t SET n = n + 1 WHERE id = 2 AND left('äb', m) IS NULL AND left('äb', 1) = 'ä';
  UPDATE t SET n = n + 1 WHERE id = 2 AND length('äb') = 2 AND sign(p) = 1 AND sign(-p) = -1;
  UPDATE t SET n = n + 1 WHERE id = 2 AND (p = 1)::text = 'true' AND (p = 1)::int = 1;
END $$;
-- session a: f(1, NULL)
-- assert SELECT n = CASE id WHEN 1 THEN 2 ELSE 6 END FROM t
