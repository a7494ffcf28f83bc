-- Rules are not modelled, so that nothing is proved; but a run that the rule forbids was shown as an
-- anomaly.
-- run: isoscope audit FILE --cycle 2
-- exit: 3
-- says: may forbid the runs that are found: rules are not modelled
-- says not: anomaly

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
CREATE RULE keep AS ON DELETE TO t DO INSTEAD NOTHING;
CREATE FUNCTION remove_it(k int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM t WHERE id = k;
END $$;
CREATE FUNCTION count_twice(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int; m int;
BEGIN
  SELECT count(*) INTO n FROM t WHERE id = k;
  SELECT count(*) INTO m FROM t WHERE id = k;
  RETURN n * 10 + m;
END $$;
