-- No call reads the number of its row, so both orders are one history, and only the first of them was
-- asked whether the assertion holds.
-- run: isoscope explore FILE --level pg-rc
-- exit: 1
-- says: fails: assert SELECT id = who FROM q

CREATE TABLE q (id serial PRIMARY KEY, who integer NOT NULL);
CREATE FUNCTION f(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO q (who) VALUES (p);
END; $$;
-- session a: f(1)
-- session b: f(2)
-- assert SELECT id = who FROM q
