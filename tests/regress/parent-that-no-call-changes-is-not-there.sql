-- The order refers to a customer that no function makes, changes or deletes. Runs did not have it at the start,
-- so that new_order failed in all of them, and the answer was unknown.
-- run: isoscope audit FILE
-- exit: 1
-- says: lost update between 2 calls of add_line
-- says: customer (id 
CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customer (id),
                     total integer NOT NULL);
CREATE FUNCTION new_order(p_order integer, p_customer integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO orders VALUES (p_order, p_customer, 0);
END $$;
CREATE FUNCTION add_line(p_order integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_total integer;
BEGIN
  SELECT total INTO v_total FROM orders WHERE id = p_order;
  UPDATE orders SET total = v_total + 1 WHERE id = p_order;
END $$;
