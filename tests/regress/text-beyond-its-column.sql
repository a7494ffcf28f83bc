-- varchar(n) was a text of any length: explore let a longer one in, which the server refuses (22001).
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 22001
-- says not: abcd

CREATE TABLE t (id int PRIMARY KEY, v varchar(3) NOT NULL);
INSERT INTO t VALUES (1, 'a');
CREATE FUNCTION put(k int, x text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = x WHERE id = k;
END $$;
-- session a: put(1, 'abcd')
-- session b: put(1, 'äöü')
