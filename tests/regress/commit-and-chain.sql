-- False proof: what follows COMMIT AND CHAIN is a transaction, too.
-- run: isoscope audit FILE --level pg-rr
-- exit: 3
-- says: the transaction that AND CHAIN begins is not modelled

CREATE TABLE a (id integer PRIMARY KEY, n integer NOT NULL);
CREATE TABLE b (id integer PRIMARY KEY, n integer NOT NULL);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT n FROM a WHERE id = :id;
UPDATE b SET n = 5 WHERE id = :id;
COMMIT AND CHAIN;
SELECT n FROM b WHERE id = :id;
UPDATE a SET n = 5 WHERE id = :id;
COMMIT;
