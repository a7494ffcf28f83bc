-- UPDATE … FROM took the first of several rows of FROM for a row that it changes, without a word; which
-- one it is, is the server's choice. Behind a unique key there is one at most.
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: which of several rows of FROM a row is changed by is the server's choice
--
-- run: sed 's/AND rate.kind >= 0/AND rate.no = p/' FILE > TEMP/one.sql && isoscope explore TEMP/one.sql --level pg-rc
-- exit: 0
-- says not: the server's choice
CREATE TABLE item (id int PRIMARY KEY, kind int NOT NULL, price int NOT NULL);
CREATE TABLE rate (kind int, no int, price int NOT NULL, PRIMARY KEY (kind, no));
INSERT INTO item VALUES (1, 1, 0);
INSERT INTO rate VALUES (1, 1, 5), (1, 2, 6);
CREATE FUNCTION f(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET price = rate.price FROM rate WHERE rate.kind = item.kind AND rate.kind >= 0;
END $$;
-- session s: f(1)
-- assert SELECT price = 5 FROM item WHERE id = 1
