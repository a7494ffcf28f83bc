-- False proof: SET LOCAL transaction_isolation is the level of the transaction, whatever --level says.
-- run: isoscope audit FILE --level pg-rr
-- exit: 1
-- says: t1 at pg-rc
-- says: lost update between 2 calls of t1

CREATE TABLE a (id integer PRIMARY KEY, n integer NOT NULL);
-- transaction t1
BEGIN;
SET LOCAL transaction_isolation TO 'read committed';
SELECT n FROM a WHERE id = :id;
UPDATE a SET n = 5 WHERE id = :id;
COMMIT;
