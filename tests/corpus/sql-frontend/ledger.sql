-- Double entry: transfers, balances, closing of days.
CREATE DOMAIN money_cents AS bigint CHECK (VALUE >= 0);
CREATE TABLE account (id integer PRIMARY KEY, owner text NOT NULL, balance bigint NOT NULL DEFAULT 0, version integer NOT NULL DEFAULT 1);
CREATE TABLE transfer (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), source integer NOT NULL REFERENCES account, target integer NOT NULL REFERENCES account,
                       amount money_cents NOT NULL, CHECK (source <> target));
CREATE TABLE posting (id bigserial PRIMARY KEY, account integer NOT NULL REFERENCES account (id), amount bigint NOT NULL, day integer NOT NULL);
CREATE TABLE closing (account integer NOT NULL, day integer NOT NULL, balance bigint NOT NULL, PRIMARY KEY (account, day));

CREATE FUNCTION transfer(p_from integer, p_to integer, p_amount bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM account WHERE id IN (p_from, p_to) ORDER BY id FOR UPDATE;
  UPDATE account SET balance = balance - p_amount WHERE id = p_from AND balance >= p_amount;
  IF NOT FOUND THEN RAISE EXCEPTION 'insufficient funds'; END IF;
  UPDATE account SET balance = balance + p_amount WHERE id = p_to;
  INSERT INTO transfer (source, target, amount) VALUES (p_from, p_to, p_amount);
END $$;

CREATE FUNCTION transfer_optimistic(p_from integer, p_to integer, p_amount bigint, p_version integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  UPDATE account SET balance = balance - p_amount, version = version + 1 WHERE id = p_from AND version = p_version;
  GET DIAGNOSTICS n = ROW_COUNT;
  IF n = 0 THEN RETURN false; END IF;
  UPDATE account SET balance = balance + p_amount, version = version + 1 WHERE id = p_to;
  RETURN true;
END $$;

CREATE FUNCTION post(p_account integer, p_amount bigint, p_day integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
  IF EXISTS (SELECT 1 FROM closing WHERE account = p_account AND day >= p_day) THEN
    RAISE EXCEPTION 'day % is closed', p_day;
  END IF;
  INSERT INTO posting (account, amount, day) VALUES (p_account, p_amount, p_day) RETURNING id INTO v_id;
  RETURN v_id;
END $$;

CREATE FUNCTION close_day(p_day integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE r record; n integer := 0;
BEGIN
  FOR r IN SELECT account, sum(amount) AS total FROM posting WHERE day <= p_day GROUP BY account LOOP
    INSERT INTO closing VALUES (r.account, p_day, r.total);
    n := n + 1;
  END LOOP;
  RETURN n;
END $$;

CREATE FUNCTION balance_of(p_account integer) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0)::bigint FROM posting WHERE account = p_account
$$;

CREATE FUNCTION audit_balances() RETURNS TABLE (account_id integer, expected bigint, actual bigint) LANGUAGE sql AS $$
  SELECT a.id, a.balance, coalesce(p.total, 0)::bigint
  FROM account a LEFT JOIN (SELECT account, sum(amount) AS total FROM posting GROUP BY account) p ON p.account = a.id
  WHERE a.balance IS DISTINCT FROM coalesce(p.total, 0)
$$;

CREATE PROCEDURE pay_interest(p_percent integer) LANGUAGE plpgsql AS $$
DECLARE v_id integer;
BEGIN
  FOR v_id IN SELECT id FROM account LOOP
    UPDATE account SET balance = balance + balance * p_percent / 100 WHERE id = v_id;
    COMMIT;
  END LOOP;
END $$;

CREATE FUNCTION statement(p_account integer) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT day, amount FROM posting WHERE account = p_account
               UNION ALL SELECT day, balance FROM closing WHERE account = p_account ORDER BY 1;
END $$;

CREATE FUNCTION settle(p_from integer, p_to integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_left bigint;
BEGIN
  SELECT balance INTO v_left FROM account WHERE id = p_from;
  IF v_left > 0 THEN
    PERFORM transfer(p_amount => v_left, p_from => p_from, p_to => p_to);
  END IF;
  RETURN v_left;
EXCEPTION WHEN raise_exception THEN
  RETURN 0;
END $$;

CREATE FUNCTION merge_accounts(p_keep integer, p_drop integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH gone AS (UPDATE account SET balance = 0 WHERE id = p_drop RETURNING id, owner)
  UPDATE posting SET account = p_keep FROM gone WHERE posting.account = gone.id;
END $$;
