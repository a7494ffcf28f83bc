-- A baseline that knew the anomalies and the broken claim made "4 calls: … 1 undecided" a success.
-- run: isoscope audit FILE --all --baseline TEMP/b.json --update-baseline --json
-- exit: 3
-- says: "verdict":"anomaly"
-- says: "limit":"runs of the model are no anomalies
-- says: 0 of 7 findings are new
-- run: isoscope audit FILE --baseline TEMP/b.json --update-baseline --quiet --junit -
-- exit: 3
-- says: <error message="there may be further findings: runs of the model are no anomalies
-- run: isoscope audit FILE --all --cycle 3 --baseline TEMP/b.json --update-baseline
-- exit: 0

-- A shop that looks at the stock, and takes a piece by one UPDATE: what was looked at may be old.
-- invariant SELECT stock >= 0 FROM item
CREATE TABLE item (
  id    integer PRIMARY KEY,
  stock integer NOT NULL
);

CREATE FUNCTION sell(p_item integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_stock integer;
BEGIN
  SELECT stock INTO v_stock FROM item WHERE id = p_item;
  IF v_stock > 0 THEN
    UPDATE item SET stock = stock - 1 WHERE id = p_item;
    RETURN true;
  END IF;
  RETURN false;
END;
$$;

CREATE FUNCTION fill(p_item integer, p_count integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET stock = stock + abs(p_count) WHERE id = p_item;
END;
$$;
