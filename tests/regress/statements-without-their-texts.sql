-- The statements of a function with EXCEPTION were shown as empty lines.
-- run: isoscope audit FILE
-- exit: 1
-- says: T1  line 12: SELECT price INTO STRICT v_price FROM rooms WHERE id = p_room
-- says: T2  line 13: UPDATE rooms SET price = v_price + 1 WHERE id = p_room  waits for T1
CREATE TABLE rooms (id int PRIMARY KEY, price int NOT NULL);
CREATE FUNCTION raise_price(p_room int) RETURNS int AS $$
DECLARE
  v_price int;
BEGIN

  SELECT price INTO STRICT v_price FROM rooms WHERE id = p_room;
  UPDATE rooms SET price = v_price + 1 WHERE id = p_room;
  RETURN v_price;
EXCEPTION
  WHEN no_data_found THEN
    RAISE EXCEPTION 'no such room: %', p_room;
END;
$$ LANGUAGE plpgsql;
