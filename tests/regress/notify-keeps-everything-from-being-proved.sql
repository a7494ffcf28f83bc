-- NOTIFY was refused, and pg_notify counted as an unknown function, with which nothing is proved.
-- run: isoscope audit FILE --prove
-- exit: 0
-- says: serializable: every execution, however long
CREATE TABLE stock (id int PRIMARY KEY, n int NOT NULL);
CREATE FUNCTION spend(p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE stock SET n = n - 1 WHERE id = p AND n > 0;
  IF FOUND THEN
    NOTIFY stock_changed, 'one less';
    PERFORM pg_notify('stock', p::text);
  END IF;
END $$;
