-- Two calls for the row that a third one made lose an update, and the answer was unknown: runs drew other
-- numbers than the arguments were made for.
-- run: isoscope audit FILE
-- exit: 1
-- says: lost update between 2 calls of add_line
-- says: T1  new_order()     prepares; returns 1000
-- says: T3  add_line(1000)
CREATE TABLE orders (id serial PRIMARY KEY, total integer NOT NULL DEFAULT 0);
CREATE FUNCTION new_order() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v_id integer;
BEGIN
  INSERT INTO orders (total) VALUES (0) RETURNING id INTO v_id;
  RETURN v_id;
END $$;
CREATE FUNCTION add_line(p_order integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_total integer;
BEGIN
  SELECT total INTO v_total FROM orders WHERE id = p_order;
  UPDATE orders SET total = v_total + 1 WHERE id = p_order;
END $$;
