-- pg_advisory_xact_lock was some function of its arguments: the two calls were interleaved as if it
-- was not there. At REPEATABLE READ that is what happens, since the snapshot is older than the lock.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says not: violate
--
-- run: isoscope explore FILE --level pg-rr
-- exit: 1
-- says: waits for
--
-- run: sed '/ assert /d' FILE > TEMP/free.sql; isoscope explore TEMP/free.sql --level si
-- exit: 2
-- says: an advisory lock needs a level of a server
--
-- run: isoscope audit FILE --level pg-rc --prove
-- exit: 0
-- says: serializable
--
-- run: isoscope audit FILE --level pg-rr
-- exit: 1
-- says: write skew
--
-- run: sed '/ assert /d' FILE > TEMP/free.sql; isoscope audit TEMP/free.sql --level si
-- exit: 3
-- says: pay takes an advisory lock at a level that is none of PostgreSQL's, which audit does not model
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
CREATE FUNCTION pay(p_id int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE total int;
BEGIN
  PERFORM pg_advisory_xact_lock(1);
  SELECT sum(balance) INTO total FROM account;
  IF total >= 20 THEN
    UPDATE account SET balance = balance - 20 WHERE id = p_id;
  END IF;
END $$;
CREATE FUNCTION look(p_id int) RETURNS int LANGUAGE sql AS $$
  SELECT balance FROM account WHERE id = p_id;
$$;
INSERT INTO account VALUES (1, 10), (2, 10);
-- session a: pay(1)
-- session b: pay(2)
-- assert SELECT sum(balance) >= 0 FROM account
