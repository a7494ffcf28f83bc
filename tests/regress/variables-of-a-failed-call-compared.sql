-- f counts twice and fails: what it has counted is seen by nobody, and yet no serial order was said
-- to end like this.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says not: no serial order

-- run: isoscope run FILE --store weak --runs 50
-- exit: 0

CREATE TABLE t (id integer PRIMARY KEY);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE x integer; y integer;
BEGIN
  SELECT count(*) INTO x FROM t;
  SELECT count(*) INTO y FROM t;
  RAISE EXCEPTION 'no';
END; $$;
CREATE FUNCTION g() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (1);
END; $$;
-- session a: f()
-- session b: g()
