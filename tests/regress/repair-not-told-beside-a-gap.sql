-- With anything that the model leaves out, no repair was told, and not why there is no proof.
-- run: isoscope audit FILE --advise
-- exit: 1
-- says: levels: no proof even at the strongest of these levels, as the model leaves something out (line 7: date values are treated as moments)
-- says: repairs that make pg-rc enough in the model, each alone; it leaves something out
-- says: + SELECT n INTO v FROM stock WHERE id = p FOR UPDATE;
CREATE TABLE stock (id int PRIMARY KEY, n int NOT NULL, since date);
CREATE FUNCTION spend(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v int;
BEGIN
  SELECT n INTO v FROM stock WHERE id = p;
  UPDATE stock SET n = v - 1 WHERE id = p AND v > 0;
END $$;
