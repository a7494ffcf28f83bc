-- False proof: a key was proved to be what the INSERT says, and varchar(1) stores 'b ' as 'b'.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 1
-- says: between f and g
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 1
-- says: write skew between f and g

CREATE TABLE t (k varchar(1) PRIMARY KEY);
CREATE FUNCTION f() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM t WHERE k = 'a') THEN
    RETURN false;
  END IF;
  INSERT INTO t VALUES ('b ');
  RETURN true;
END $$;
CREATE FUNCTION g() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM t WHERE k = 'b') THEN
    RETURN false;
  END IF;
  INSERT INTO t VALUES ('a ');
  RETURN true;
END $$;
