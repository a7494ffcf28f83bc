-- h was called for both rows before the first one was inserted. On the server the second call
-- finds that row.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: is called inside of a statement
CREATE TABLE t (id int PRIMARY KEY, n int);
CREATE FUNCTION h() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM t);
END $$;
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (1, h()), (2, h());
END $$;
-- session s: f()
-- assert SELECT n = 0 FROM t
