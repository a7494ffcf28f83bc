-- A deadlock and a failed serialization leave equal rows; they were counted as one outcome, and the
-- list showed only the one that was met first.
-- run: isoscope explore FILE --level pg-rr --outcomes
-- exit: 0
-- says: 6 outcomes
CREATE TABLE t (id int PRIMARY KEY, c int NOT NULL);
INSERT INTO t VALUES (1, 0), (2, 0);
CREATE FUNCTION down() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET c = 1 WHERE id = 1;
  UPDATE t SET c = 1 WHERE id = 2;
END $$;
CREATE FUNCTION up() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET c = 2 WHERE id = 2;
  UPDATE t SET c = 2 WHERE id = 1;
END $$;
-- session s1: down()
-- session s2: up()
