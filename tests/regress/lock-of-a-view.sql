-- False proof: the condition moves into the view, which locks one row only.
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: the server locks only as many rows of this subquery as it asks for, or none
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE VIEW w AS SELECT id, v FROM t FOR UPDATE;
CREATE FUNCTION bump(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; b boolean;
BEGIN
  PERFORM 1 FROM w WHERE id = 1;
  SELECT v INTO x FROM t WHERE id = 2;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
CREATE FUNCTION inc2(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
  SELECT v INTO x FROM t WHERE id = 2 FOR UPDATE;
  UPDATE t SET v = x + 1 WHERE id = 2;
  RETURN x;
END $$;
-- session a: inc2(1)
-- session b: bump(1)
-- assert SELECT v = 2 FROM t WHERE id = 2
