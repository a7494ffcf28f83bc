-- Triggers do not fire for rows at the start, and the invariant was said to be broken by them.
-- run: isoscope explore FILE --level pg-rc --outcomes
-- exit: 1
-- says: the trigger tg does not fire for rows of the start

CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE hist (n int, v int);
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO hist VALUES (NEW.id, NEW.v); RETURN NULL; END $$;
CREATE TRIGGER tg AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION tf();
INSERT INTO t VALUES (1, 5), (2, 7);
CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN UPDATE t SET v = 6 WHERE id = 1; SELECT count(*) INTO x FROM hist; RETURN x; END $$;
-- session a: f()
-- invariant SELECT (SELECT count(*) FROM hist) >= (SELECT count(*) FROM t)
