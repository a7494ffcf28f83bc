-- FOR UPDATE was a read like any other to explore, so the usual repair of an oversell was none.
-- run: isoscope explore FILE
-- exit: 0
-- says: at pg-rc:
-- run: isoscope explore FILE --level pg-rr
-- exit: 0
-- run: isoscope explore FILE --level pg-ser
-- exit: 0
-- run: isoscope run FILE --store weak --runs 20
-- exit: 0

CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL);
CREATE TABLE sale (id int PRIMARY KEY, item int NOT NULL REFERENCES item (id));
CREATE FUNCTION buy(p_sale int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_stock int;
BEGIN
  SELECT stock INTO v_stock FROM item WHERE id = 1 FOR UPDATE;
  IF v_stock < 1 THEN RETURN false; END IF;
  UPDATE item SET stock = v_stock - 1 WHERE id = 1;
  INSERT INTO sale VALUES (p_sale, 1);
  RETURN true;
END; $$;
INSERT INTO item VALUES (1, 1);
-- session a: buy(1)
-- session b: buy(2)
-- assert SELECT count(*) <= 1 FROM sale
