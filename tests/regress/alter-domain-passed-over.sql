-- ALTER DOMAIN was passed over without a word: the column was NULL where the server has 3.
-- run: isoscope explore FILE --outcomes
-- exit: 3
-- says: ALTER DOMAIN is ignored
-- run: isoscope audit FILE --prove
-- exit: 3
-- says: ALTER DOMAIN is ignored

CREATE DOMAIN amount AS integer;
ALTER DOMAIN amount SET DEFAULT 3;
CREATE TABLE t (id integer PRIMARY KEY, n amount);

CREATE FUNCTION put(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t (id) VALUES (p);
END; $$;

-- session s: put(1)
