-- The shop with one UPDATE that looks and takes at once.
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
BEGIN
  UPDATE item SET stock = stock - 1 WHERE id = p_item AND stock > 0;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO sale (item, buyer) VALUES (p_item, p_buyer);
  RETURN true;
END;
$$;
