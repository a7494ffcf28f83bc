-- A repair was printed with the bare names of columns, where a parameter has the same name (the
-- server refuses it, 42702) or the column needs quotes.
-- run: isoscope audit FILE --only sell --advise
-- exit: 1
-- says: WHERE item.id = sell.id FOR UPDATE
-- says not: id = id
-- run: isoscope audit FILE --only part --advise
-- exit: 1
-- says: FROM "Part" WHERE "Id" = p FOR UPDATE
-- says not: UPDATE Part

CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);
CREATE TABLE "Part" ("Id" integer PRIMARY KEY, "Stock" integer NOT NULL);
CREATE FUNCTION sell(id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v integer;
BEGIN
  SELECT stock INTO v FROM item WHERE item.id = sell.id;
  IF v > 0 THEN
    UPDATE item SET stock = v - 1 WHERE item.id = sell.id;
  END IF;
END; $$;
CREATE FUNCTION part(p integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v integer;
BEGIN
  SELECT "Stock" INTO v FROM "Part" WHERE "Id" = p;
  IF v > 0 THEN
    UPDATE "Part" SET "Stock" = v - 1 WHERE "Id" = p;
  END IF;
END; $$;
