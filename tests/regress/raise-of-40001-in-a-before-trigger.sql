-- A BEFORE UPDATE trigger that raises 40001 was said to raise P0001, which no one retries.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: 40001
-- says not: P0001

CREATE TABLE acc (id int PRIMARY KEY, bal int NOT NULL, ver int NOT NULL);
INSERT INTO acc VALUES (1, 10, 0);
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.ver <> OLD.ver + 1 THEN RAISE EXCEPTION 'stale' USING ERRCODE = '40001'; END IF;
  RETURN NEW; END $$;
CREATE TRIGGER tg BEFORE UPDATE ON acc FOR EACH ROW EXECUTE FUNCTION tf();
CREATE FUNCTION pay(m int) RETURNS void LANGUAGE plpgsql AS $$ DECLARE b int; w int; BEGIN
  SELECT bal, ver INTO b, w FROM acc WHERE id = 1;
  UPDATE acc SET bal = b - m, ver = w + 1 WHERE id = 1; END $$;
-- session a: pay(3)
-- session b: pay(4)
