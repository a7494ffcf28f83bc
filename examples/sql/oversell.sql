-- One item is left. At READ COMMITTED both customers get it: each has seen a stock of 1, and the
-- foreign key, whose check locks the item only against DELETE, does not help.
CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL);
CREATE TABLE order_line (id int PRIMARY KEY, item int NOT NULL REFERENCES item (id));

CREATE FUNCTION buy(p_order int, p_item int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_stock int;
BEGIN
  SELECT stock INTO v_stock FROM item WHERE id = p_item;
  IF v_stock < 1 THEN
    RETURN false;
  END IF;
  UPDATE item SET stock = v_stock - 1 WHERE id = p_item;
  INSERT INTO order_line VALUES (p_order, p_item);
  RETURN true;
END $$;

INSERT INTO item VALUES (1, 1);

-- session alice: buy(1, 1)
-- session bob: buy(2, 1)

-- invariant SELECT stock >= 0 FROM item
-- assert SELECT count(*) <= 1 FROM order_line
