-- DEFERRABLE behind a column was passed over without a word. Checked at once, the INSERT of a line
-- before its order always fails, so that add was proved serializable; on the server two calls count
-- the same number of orders.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: deferrable constraints are checked at once
-- run: isoscope explore FILE --level pg-rr
-- exit: 3
-- says: deferrable constraints are checked at once

CREATE TABLE orders (id int PRIMARY KEY, number int NOT NULL);
CREATE TABLE line (id int PRIMARY KEY, orders int REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED);
CREATE FUNCTION add(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT count(*) INTO n FROM orders;
  INSERT INTO line VALUES (k, k);
  INSERT INTO orders VALUES (k, n + 1);
  RETURN n;
END $$;
-- session a: add(1)
-- session b: add(2)
