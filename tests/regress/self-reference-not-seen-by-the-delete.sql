-- False anomaly: the DELETE waited for a row that refers to the one it deletes, and its foreign key
-- finds that row (23503), although the DELETE itself did not.
-- run: isoscope audit FILE --cycle 3
-- says not: anomaly
-- exit: 3
CREATE TABLE t (id integer PRIMARY KEY, up integer REFERENCES t);
CREATE FUNCTION add(k integer, j integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (k, j);
END; $$;
CREATE FUNCTION del(k integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM t WHERE id = k OR up = k;
END; $$;
