CREATE TYPE kind AS ENUM ('a', 'b');
CREATE DOMAIN cents AS integer CHECK (VALUE >= 0);
CREATE TABLE u (x integer PRIMARY KEY, k kind DEFAULT 'a', n numeric(8,2), d date);
CREATE TABLE t (
  a integer NOT NULL REFERENCES u (x) ON DELETE CASCADE,
  b serial UNIQUE,
  c text DEFAULT 'none' CHECK (c <> ''),
  m cents,
  PRIMARY KEY (a, b)
);
CREATE TABLE log (what text);
ALTER TABLE ONLY u ADD CONSTRAINT q UNIQUE (k, n);
CREATE UNIQUE INDEX ON t (c);
INSERT INTO u VALUES (1, 'a', 2, 3), (-2, 'b', NULL, 4);
-- session one: f(1, '{1,2}'); g(2) @si
-- @isolation si
CREATE FUNCTION f(p integer, ps integer[]) RETURNS integer LANGUAGE plpgsql AS $$
<<outer_block>>
DECLARE
  v integer := 0; r record; w u%ROWTYPE; z t.c%TYPE; n v%TYPE; l integer[] := ARRAY[1, 2];
BEGIN
  SELECT x INTO STRICT v FROM u WHERE x = p AND k IN ('a', 'b') OR x BETWEEN 1 AND 3;
  SELECT * INTO w FROM u ORDER BY x DESC LIMIT 1 FOR UPDATE;
  FOR r IN SELECT t.a, u.k AS kk FROM t JOIN u ON u.x = t.a LOOP
    v := v + r.a;
    CONTINUE WHEN v > 3;
    DECLARE v integer := 2; BEGIN v := outer_block.v; END;
  END LOOP;
  FOR i IN REVERSE 10 .. 1 BY 2 LOOP l[i] := i; EXIT; END LOOP;
  FOREACH v IN ARRAY ps LOOP NULL; END LOOP;
  WHILE EXISTS (SELECT 1 FROM t WHERE a = v) LOOP v := v + 1; END LOOP;
  CASE v WHEN 1, 2 THEN v := 3; ELSE NULL; END CASE;
  IF NOT FOUND THEN RAISE EXCEPTION 'no %', v; ELSIF v = 2 THEN RAISE NOTICE 'x'; END IF;
  GET DIAGNOSTICS v = ROW_COUNT;
  ASSERT v > 0;
  PERFORM 1 FROM u WHERE x = ANY (ps);
  INSERT INTO t (a, c) VALUES (f.p, 'x') ON CONFLICT (c) DO UPDATE SET m = t.m + excluded.a
    RETURNING b INTO v;
  UPDATE u SET (k, n) = ('b', n + 1) WHERE x = (SELECT coalesce(max(a), 0) + 1 FROM t);
  DELETE FROM log WHERE what LIKE 'a%' AND v IN (SELECT x FROM u);
  RETURN CASE WHEN v IS NULL THEN abs(-1) ELSE least(v, cardinality(ps)) END;
END $$;
CREATE FUNCTION g(integer) RETURNS bigint LANGUAGE sql AS
  'UPDATE u SET n = $1; SELECT count(*) FROM u WHERE k = ''a''';
CREATE FUNCTION h(OUT o integer, INOUT q text) LANGUAGE plpgsql AS 'BEGIN o := 1; END';
CREATE FUNCTION rows() RETURNS TABLE (i integer, s text) LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY SELECT a, c FROM t; i := 1; RETURN NEXT; RETURN; END $$;
CREATE PROCEDURE proc(x integer) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log DEFAULT VALUES; END $$;
