-- The DELETE fails in every order of the two calls, by one row that refers to another or by the
-- next one: the values in our text of the error made two ends of it, and one was in no serial order.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says not: no serial order

CREATE TABLE t (id integer PRIMARY KEY, up integer REFERENCES t);
CREATE FUNCTION add(k integer, j integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (k, j);
  INSERT INTO t VALUES (k + 1, k);
END; $$;
CREATE FUNCTION del(k integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM t WHERE id = k OR up = k;
END; $$;
INSERT INTO t VALUES (1, NULL), (2, 1);
-- session a: add(5, 1)
-- session b: del(1)
