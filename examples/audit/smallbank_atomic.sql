-- SmallBank (Alomari, Cahill, Fekete, Roehm, ICDE 2008), where a row that is looked at and changed is
-- looked at and changed in one step, as in the templates of Vandevoort, Ketsman, Koch, Neven.
CREATE TABLE account (
  name    text PRIMARY KEY,
  cust_id integer NOT NULL UNIQUE
);
CREATE TABLE savings (
  cust_id integer PRIMARY KEY,
  bal     integer NOT NULL
);
CREATE TABLE checking (
  cust_id integer PRIMARY KEY,
  bal     integer NOT NULL
);

CREATE FUNCTION balance(p_name text) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_id  integer;
  v_sav integer;
  v_chk integer;
BEGIN
  SELECT cust_id INTO v_id FROM account WHERE name = p_name;
  SELECT bal INTO v_sav FROM savings WHERE cust_id = v_id;
  SELECT bal INTO v_chk FROM checking WHERE cust_id = v_id;
  RETURN v_sav + v_chk;
END;
$$;

CREATE FUNCTION deposit_checking(p_name text, p_amount integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  SELECT cust_id INTO v_id FROM account WHERE name = p_name;
  UPDATE checking SET bal = bal + p_amount WHERE cust_id = v_id;
END;
$$;

CREATE FUNCTION transact_savings(p_name text, p_amount integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  SELECT cust_id INTO v_id FROM account WHERE name = p_name;
  UPDATE savings SET bal = bal + p_amount WHERE cust_id = v_id AND bal + p_amount >= 0;
  RETURN FOUND;
END;
$$;

CREATE FUNCTION amalgamate(p_name1 text, p_name2 text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_id1 integer;
  v_id2 integer;
  v_sav integer;
  v_chk integer;
BEGIN
  SELECT cust_id INTO v_id1 FROM account WHERE name = p_name1;
  SELECT cust_id INTO v_id2 FROM account WHERE name = p_name2;
  SELECT bal INTO v_sav FROM savings WHERE cust_id = v_id1 FOR UPDATE;
  SELECT bal INTO v_chk FROM checking WHERE cust_id = v_id1 FOR UPDATE;
  UPDATE savings SET bal = 0 WHERE cust_id = v_id1;
  UPDATE checking SET bal = 0 WHERE cust_id = v_id1;
  UPDATE checking SET bal = bal + v_sav + v_chk WHERE cust_id = v_id2;
END;
$$;

CREATE FUNCTION write_check(p_name text, p_amount integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_id  integer;
  v_sav integer;
  v_chk integer;
BEGIN
  SELECT cust_id INTO v_id FROM account WHERE name = p_name;
  SELECT bal INTO v_sav FROM savings WHERE cust_id = v_id;
  SELECT bal INTO v_chk FROM checking WHERE cust_id = v_id;
  IF v_sav + v_chk < p_amount THEN
    UPDATE checking SET bal = bal - p_amount - 1 WHERE cust_id = v_id;
  ELSE
    UPDATE checking SET bal = bal - p_amount WHERE cust_id = v_id;
  END IF;
END;
$$;

CREATE FUNCTION send_payment(p_from text, p_to text, p_amount integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_id1 integer;
  v_id2 integer;
BEGIN
  SELECT cust_id INTO v_id1 FROM account WHERE name = p_from;
  SELECT cust_id INTO v_id2 FROM account WHERE name = p_to;
  UPDATE checking SET bal = bal - p_amount WHERE cust_id = v_id1 AND bal >= p_amount;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE checking SET bal = bal + p_amount WHERE cust_id = v_id2;
  RETURN true;
END;
$$;
