-- DROP FUNCTION g(int) dropped g() and g(text) as well: sessions that call g were refused.
-- run: isoscope explore FILE --outcomes
-- exit: 0
-- says: commits: result = 2
-- run: isoscope audit FILE --json
-- exit: 0
-- says: "levels":{"g":"pg-rc"}
-- run: sed 's/g(int);/g;/; /session/d' FILE > TEMP/d.sql && isoscope audit TEMP/d.sql
-- exit: 2
-- says: there is no function to audit
-- run: sed 's/FUNCTION g(int)/FUNCTION IF EXISTS g(bigint)/' FILE > TEMP/d.sql && isoscope audit TEMP/d.sql --json
-- exit: 0
-- says: "levels":{"g":"pg-rc","g/1":"pg-rc"}

CREATE TABLE t (id int PRIMARY KEY, v int);
INSERT INTO t VALUES (1, 10);
CREATE FUNCTION g() RETURNS int LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET v = 20; RETURN 2; END $$;
CREATE FUNCTION g(a int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET v = 30; RETURN 3; END $$;
DROP FUNCTION g(int);
-- session a: g()
