-- concat, replace, substr, right and trim made every answer unknown.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE t (id int PRIMARY KEY, v text);
CREATE FUNCTION f(p text, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES
    (1, concat('a', NULL, n, p)), (2, replace(p, 'bc', '-')), (3, substr(p, 2, 3)),
    (4, substring(p FROM -1 FOR 4)), (5, right(p, -2)), (6, right(p, 2)), (7, trim('  x ')),
    (8, ltrim('  x ')), (9, substr(p, 99)), (10, replace(p, '', 'x')), (11, substr(NULL, 1));
  BEGIN
    INSERT INTO t VALUES (12, substr(p, 1, 0 - n));
  EXCEPTION WHEN substring_error THEN
    INSERT INTO t VALUES (12, 'error');
  END;
END $$;
-- session a: f('abcdbc', 7)
-- assert SELECT v = 'a7abcdbc' FROM t WHERE id = 1
-- assert SELECT v = 'a-d-' FROM t WHERE id = 2
-- assert SELECT v = 'bcd' FROM t WHERE id = 3
-- assert SELECT v = 'ab' FROM t WHERE id = 4
-- assert SELECT v = 'cdbc' FROM t WHERE id = 5
-- assert SELECT v = 'bc' FROM t WHERE id = 6
-- assert SELECT v = 'x' FROM t WHERE id = 7
-- assert SELECT v = 'x ' FROM t WHERE id = 8
-- assert SELECT v = '' FROM t WHERE id = 9
-- assert SELECT v = 'abcdbc' FROM t WHERE id = 10
-- assert SELECT v IS NULL FROM t WHERE id = 11
-- assert SELECT v = 'error' FROM t WHERE id = 12
-- assert SELECT count(*) = 12 FROM t
