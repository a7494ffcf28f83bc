-- False proof: with the collation of a domain 'a' and 'A' are one key.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: COLLATE is ignored

CREATE COLLATION IF NOT EXISTS ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN cit AS text COLLATE ci;
CREATE TABLE t (k cit PRIMARY KEY);
CREATE FUNCTION f() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM t WHERE k = 'a') THEN
    RETURN false;
  END IF;
  INSERT INTO t VALUES ('B');
  RETURN true;
END $$;
CREATE FUNCTION g() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM t WHERE k = 'b') THEN
    RETURN false;
  END IF;
  INSERT INTO t VALUES ('A');
  RETURN true;
END $$;
