-- What the SELECTs of a transaction showed its client was no result of it: two that read the same
-- balance and overwrite it were said to end as a serial order.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: no serial order ends like this
-- says: b[1] commits: result = 100
-- run: isoscope run FILE --store weak --level pg-rc --runs 40
-- exit: 1
-- says: no serial order ends like this

CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
INSERT INTO account VALUES (1, 100);
-- transaction first
BEGIN;
SELECT balance FROM account WHERE id = 1;
UPDATE account SET balance = 40 WHERE id = 1;
COMMIT;
-- transaction second
BEGIN;
SELECT balance FROM account WHERE id = 1;
UPDATE account SET balance = 70 WHERE id = 1;
COMMIT;
-- session a: first()
-- session b: second()
