-- A shop: sell a piece if there is one left, and write down who bought it.
CREATE TABLE item (
  id    integer PRIMARY KEY,
  stock integer NOT NULL
);
CREATE TABLE sale (
  id    serial PRIMARY KEY,
  item  integer NOT NULL REFERENCES item (id),
  buyer text NOT NULL
);

CREATE FUNCTION sell(p_item integer, p_buyer text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_stock integer;
BEGIN
  SELECT stock INTO v_stock FROM item WHERE id = p_item;
  IF v_stock > 0 THEN
    UPDATE item SET stock = v_stock - 1 WHERE id = p_item;
    INSERT INTO sale (item, buyer) VALUES (p_item, p_buyer);
    RETURN true;
  END IF;
  RETURN false;
END;
$$;
