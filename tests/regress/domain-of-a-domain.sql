-- What a domain demands was passed over in a domain that is made of it, and its default too.
-- run: isoscope explore FILE --outcomes
-- exit: 3
-- says: s[1] aborts (23514
-- says: s[2] aborts (23514
-- says: s[3] aborts (23502
-- says: t(id = 4, a = 3, b = 7, c = 9, d = NULL)

CREATE DOMAIN positive AS integer DEFAULT 7 NOT NULL CHECK (VALUE > 0);
CREATE DOMAIN plain AS integer DEFAULT 7;
CREATE DOMAIN small AS positive CHECK (VALUE < 5);
CREATE DOMAIN nine AS positive DEFAULT 9;
CREATE TABLE t (id integer PRIMARY KEY, a small, b positive, c nine, d plain DEFAULT NULL);

CREATE FUNCTION put(p integer, q integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t (id, a) VALUES (p, q);
END; $$;

-- session s: put(1, 0); put(2, 5); put(3, NULL); put(4, 3)
