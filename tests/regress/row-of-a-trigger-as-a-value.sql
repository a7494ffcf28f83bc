-- Functions that fire the usual log of changes were left out: to_jsonb(NEW), make_interval(mins =>
-- …), pg_notify and NOTIFY were refused, or kept everything from being proved.
-- run: isoscope audit FILE
-- exit: 1
-- says: lost update between 2 calls of spend
-- says: line 25: SELECT n INTO v FROM stock WHERE id = p
CREATE TABLE stock (id int PRIMARY KEY, n int NOT NULL);
CREATE TABLE log (id bigserial PRIMARY KEY, op text NOT NULL, was jsonb, now jsonb NOT NULL, at timestamptz);
CREATE FUNCTION logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO log (op, was, now) VALUES (TG_OP, to_jsonb(OLD), row_to_json(OLD));
    RETURN OLD;
  END IF;
  INSERT INTO log (op, was, now, at)
    VALUES (TG_OP, to_jsonb(OLD), to_jsonb(NEW), now() + make_interval(mins => 5));
  RETURN NEW;
END $$;
CREATE TRIGGER stock_log AFTER INSERT OR UPDATE OR DELETE ON stock
  FOR EACH ROW EXECUTE FUNCTION logs();
CREATE FUNCTION spend(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v int;
BEGIN
  SELECT n INTO v FROM stock WHERE id = p;
  IF v > 0 THEN
    UPDATE stock SET n = v - 1 WHERE id = p;
    PERFORM pg_notify('stock', p::text);
    NOTIFY stock_changed;
  END IF;
END $$;
