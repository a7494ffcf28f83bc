-- What a BEFORE UPDATE trigger raises was P0001 whatever its ERRCODE says: the wrong handler ran.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 1
-- says: log(id = 1, what = 'poor')
-- says not: what = 'raised')

CREATE TABLE acc (id int PRIMARY KEY, bal int NOT NULL);
CREATE TABLE log (id int PRIMARY KEY, what text);
INSERT INTO acc VALUES (1, 5);
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.bal < 0 THEN RAISE EXCEPTION 'poor' USING ERRCODE = 'P0778'; END IF;
  RETURN NEW; END $$;
CREATE TRIGGER tg BEFORE UPDATE ON acc FOR EACH ROW EXECUTE FUNCTION tf();
CREATE FUNCTION pay(m int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  UPDATE acc SET bal = bal - m WHERE id = 1;
  RETURN 1;
EXCEPTION
  WHEN SQLSTATE 'P0778' THEN INSERT INTO log VALUES (1, 'poor'); RETURN 2;
  WHEN raise_exception THEN INSERT INTO log VALUES (1, 'raised'); RETURN 3;
END $$;
-- session a: pay(7)
-- assert SELECT what = 'raised' FROM log
