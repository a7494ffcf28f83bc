-- WHEN OTHERS caught the failed ASSERT of a BEFORE UPDATE trigger, which it does not on the server:
-- the second call was said to end.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says: b[1] aborts (P0004

CREATE TABLE acc (id int PRIMARY KEY, bal int NOT NULL);
INSERT INTO acc VALUES (1, 5);
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  ASSERT NEW.bal >= 0; RETURN NEW; END $$;
CREATE TRIGGER tg BEFORE UPDATE ON acc FOR EACH ROW EXECUTE FUNCTION tf();
CREATE FUNCTION pay(m int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  BEGIN
    UPDATE acc SET bal = bal - m WHERE id = 1;
  EXCEPTION WHEN others THEN NULL; END;
  UPDATE acc SET bal = 0 WHERE id = 1;
  RETURN 1; END $$;
-- session a: pay(3)
-- session b: pay(4)
-- assert SELECT bal = 0 FROM acc
