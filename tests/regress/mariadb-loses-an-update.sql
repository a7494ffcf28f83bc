-- REPEATABLE READ of MariaDB loses an update without an error, where that of PostgreSQL aborts. What
-- cannot be executed as MariaDB does is refused with its line.
-- run: isoscope explore FILE --server mariadb --outcomes
-- exit: 1
-- says: at mysql-rr
-- says: counter(id = 1, n = 1)
-- says not: aborts
--
-- run: isoscope explore FILE --level pg-rr --outcomes
-- exit: 1
-- says: aborts (40001
--
-- run: isoscope explore FILE --server mariadb --level mysql-rc
-- exit: 1
--
-- run: isoscope run FILE --store weak --server mariadb --runs 20
-- exit: 1
-- says: mariadb at mysql-rr
--
-- run: isoscope explore FILE --server mariadb --level serializable
-- exit: 2
-- says: 'serializable' is no level of MariaDB
--
-- run: sed 's/session b: bump/session b: reset/' FILE > TEMP/reset.sql; isoscope explore TEMP/reset.sql --server mariadb
-- exit: 2
-- says: reset.sql:36:3: error: which rows of counter MariaDB locks here depends on its plan
CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL);
CREATE FUNCTION bump() RETURNS void LANGUAGE plpgsql AS $$
DECLARE v int;
BEGIN
  SELECT n INTO v FROM counter WHERE id = 1;
  UPDATE counter SET n = v + 1 WHERE id = 1;
END $$;
CREATE FUNCTION reset() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE counter SET n = 0;
END $$;
INSERT INTO counter VALUES (1, 0);
-- session a: bump()
-- session b: bump()
-- assert SELECT n = 2 FROM counter
