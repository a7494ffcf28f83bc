-- A failed ASSERT in a BEFORE UPDATE trigger was caught by WHEN raise_exception; it is P0004.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 0
-- says not: raised

CREATE TABLE acc (id int PRIMARY KEY, bal int NOT NULL);
CREATE TABLE log (id int PRIMARY KEY, what text);
INSERT INTO acc VALUES (1, 5);
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  ASSERT NEW.bal >= 0; RETURN NEW; END $$;
CREATE TRIGGER tg BEFORE UPDATE ON acc FOR EACH ROW EXECUTE FUNCTION tf();
CREATE FUNCTION pay(m int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  UPDATE acc SET bal = bal - m WHERE id = 1;
  RETURN 1;
EXCEPTION
  WHEN raise_exception THEN INSERT INTO log VALUES (1, 'raised'); RETURN 3;
  WHEN assert_failure THEN RETURN 4; WHEN division_by_zero THEN RETURN 5;
END $$;
-- session a: pay(7)
