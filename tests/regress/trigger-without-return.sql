-- A trigger that ends without RETURN ends the statement with 2F005; it passed for one that returns the row.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: a[1] aborts (2F005
-- says: t(id = 1, v = 0)
-- run: sed 's/BEFORE UPDATE/AFTER UPDATE/' FILE > TEMP/after.sql; isoscope explore TEMP/after.sql --level pg-rc --outcomes
-- exit: 0
-- says: 2F005
-- run: sed 's/BEFORE UPDATE/BEFORE INSERT/; s/UPDATE t SET v = x WHERE id = 1/INSERT INTO t VALUES (2, x)/' FILE > TEMP/insert.sql; isoscope explore TEMP/insert.sql --level pg-rc --outcomes
-- exit: 0
-- says: 2F005
-- says not: id = 2
-- run: sed 's/BEFORE UPDATE/BEFORE DELETE/; s/UPDATE t SET v = x WHERE id = 1/DELETE FROM t WHERE id = 1/; s/NEW/OLD/g' FILE > TEMP/delete.sql; isoscope explore TEMP/delete.sql --level pg-rc --outcomes
-- exit: 0
-- says: 2F005
-- says: t(id = 1, v = 0)

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 0);
CREATE FUNCTION tr() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.v > 5 THEN
    RETURN NEW;
  END IF;
END $$;
CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION tr();
CREATE FUNCTION f(x int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = x WHERE id = 1;
END $$;
-- session a: f(3)
