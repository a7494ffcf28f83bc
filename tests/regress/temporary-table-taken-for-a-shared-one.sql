-- Each session has a temporary table of its own, so that no two calls meet there: a lost update was shown.
-- run: isoscope audit FILE
-- exit: 3
-- says: table 'basket' is temporary: each session has its own
-- says not: lost update
-- run: sed 's/TEMPORARY //' FILE > TEMP/shared.sql; isoscope audit TEMP/shared.sql
-- exit: 1
-- says: lost update between 2 calls of put

CREATE TEMPORARY TABLE basket (item int PRIMARY KEY, amount int NOT NULL);
CREATE FUNCTION put(p_item int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_amount int;
BEGIN
  SELECT amount INTO v_amount FROM basket WHERE item = p_item;
  UPDATE basket SET amount = v_amount + 1 WHERE item = p_item;
END $$;
