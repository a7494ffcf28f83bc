-- False proof: a transaction with a SAVEPOINT was no transaction, and not looked at; nor was one with LOCK.
-- run: sed 's/^SAVEPOINT a; .*/LOCK TABLE acc IN SHARE MODE;/; s/^-- transaction wd//' FILE > TEMP/lock.sql; isoscope audit TEMP/lock.sql
-- exit: 3
-- says: is left out: this statement is not modelled in a transaction
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 3
-- says: wd is left out: this statement is not modelled in a transaction

CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL);
CREATE FUNCTION other(p integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT bal FROM acc WHERE id = p);
END $$;
-- transaction wd
BEGIN;
SAVEPOINT a; RELEASE SAVEPOINT a;
SELECT bal FROM acc WHERE id = :id;
UPDATE acc SET bal = 5 WHERE id = :id;
COMMIT;
