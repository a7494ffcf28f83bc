-- TPC-C (rev. 5.11): nine tables, five transactions, one function each. A row of a district, of the
-- stock or of a customer that is looked at and changed is looked at and changed by one UPDATE.
-- Columns that no transaction uses are left out.  Delivery is one transaction per
-- district (the specification allows one to ten database transactions).
CREATE TABLE warehouse (
  w_id  integer PRIMARY KEY,
  w_tax integer NOT NULL,
  w_ytd integer NOT NULL
);
CREATE TABLE district (
  d_w_id      integer NOT NULL,
  d_id        integer NOT NULL,
  d_tax       integer NOT NULL,
  d_ytd       integer NOT NULL,
  d_next_o_id integer NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
CREATE TABLE customer (
  c_w_id         integer NOT NULL,
  c_d_id         integer NOT NULL,
  c_id           integer NOT NULL,
  c_first        text NOT NULL,
  c_last         text NOT NULL,
  c_credit       text NOT NULL,
  c_discount     integer NOT NULL,
  c_balance      integer NOT NULL,
  c_ytd_payment  integer NOT NULL,
  c_payment_cnt  integer NOT NULL,
  c_delivery_cnt integer NOT NULL,
  c_data         text NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE TABLE history (
  h_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  h_c_w_id integer NOT NULL,
  h_c_d_id integer NOT NULL,
  h_c_id   integer NOT NULL,
  h_w_id   integer NOT NULL,
  h_d_id   integer NOT NULL,
  h_amount integer NOT NULL
);
CREATE TABLE orders (
  o_w_id       integer NOT NULL,
  o_d_id       integer NOT NULL,
  o_id         integer NOT NULL,
  o_c_id       integer NOT NULL,
  o_carrier_id integer,
  o_ol_cnt     integer NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE TABLE new_order (
  no_w_id integer NOT NULL,
  no_d_id integer NOT NULL,
  no_o_id integer NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
CREATE TABLE order_line (
  ol_w_id        integer NOT NULL,
  ol_d_id        integer NOT NULL,
  ol_o_id        integer NOT NULL,
  ol_number      integer NOT NULL,
  ol_i_id        integer NOT NULL,
  ol_supply_w_id integer NOT NULL,
  ol_quantity    integer NOT NULL,
  ol_amount      integer NOT NULL,
  ol_delivery_d  integer,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
CREATE TABLE item (
  i_id    integer PRIMARY KEY,
  i_price integer NOT NULL
);
CREATE TABLE stock (
  s_w_id       integer NOT NULL,
  s_i_id       integer NOT NULL,
  s_quantity   integer NOT NULL,
  s_ytd        integer NOT NULL,
  s_order_cnt  integer NOT NULL,
  s_remote_cnt integer NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);

CREATE FUNCTION new_order(p_w integer, p_d integer, p_c integer,
                          p_items integer[], p_supply integer[], p_qty integer[])
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_o_id     integer;
  v_d_tax    integer;
  v_w_tax    integer;
  v_discount integer;
  v_cnt      integer := cardinality(p_items);
  v_price    integer;
  v_total    integer := 0;
BEGIN
  SELECT w_tax INTO v_w_tax FROM warehouse WHERE w_id = p_w;
  UPDATE district SET d_next_o_id = d_next_o_id + 1
    WHERE d_w_id = p_w AND d_id = p_d
    RETURNING d_next_o_id - 1, d_tax INTO v_o_id, v_d_tax;
  SELECT c_discount INTO v_discount
    FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt)
    VALUES (p_w, p_d, v_o_id, p_c, NULL, v_cnt);
  INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (p_w, p_d, v_o_id);
  FOR i IN 1 .. v_cnt LOOP
    SELECT i_price INTO v_price FROM item WHERE i_id = p_items[i];
    UPDATE stock
      SET s_quantity = CASE WHEN s_quantity >= p_qty[i] + 10 THEN s_quantity - p_qty[i]
                            ELSE s_quantity - p_qty[i] + 91 END,
          s_ytd = s_ytd + p_qty[i], s_order_cnt = s_order_cnt + 1
      WHERE s_w_id = p_supply[i] AND s_i_id = p_items[i];
    IF p_supply[i] <> p_w THEN
      UPDATE stock SET s_remote_cnt = s_remote_cnt + 1
        WHERE s_w_id = p_supply[i] AND s_i_id = p_items[i];
    END IF;
    INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id,
                            ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d)
      VALUES (p_w, p_d, v_o_id, i, p_items[i], p_supply[i], p_qty[i],
              p_qty[i] * v_price, NULL);
    v_total := v_total + p_qty[i] * v_price;
  END LOOP;
  RETURN v_total * (100 - v_discount) * (100 + v_w_tax + v_d_tax) / 10000;
END;
$$;

CREATE FUNCTION payment(p_w integer, p_d integer, p_c_w integer, p_c_d integer,
                        p_c integer, p_c_last text, p_amount integer)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_c_id   integer := p_c;
  v_cnt    integer;
  v_credit text;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
  IF v_c_id IS NULL THEN
    SELECT count(*) INTO v_cnt FROM customer
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_c_last;
    SELECT c_id INTO v_c_id FROM customer
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_c_last
      ORDER BY c_first OFFSET v_cnt / 2 LIMIT 1;
  END IF;
  UPDATE customer
    SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c_id
    RETURNING c_credit INTO v_credit;
  IF v_credit = 'BC' THEN
    UPDATE customer SET c_data = left(p_amount || ' ' || c_data, 500)
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c_id;
  END IF;
  INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount)
    VALUES (p_c_w, p_c_d, v_c_id, p_w, p_d, p_amount);
  RETURN v_c_id;
END;
$$;

CREATE FUNCTION order_status(p_w integer, p_d integer, p_c integer)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_bal     integer;
  v_o_id    integer;
  v_carrier integer;
  v_sum     integer := 0;
  r         record;
BEGIN
  SELECT c_balance INTO v_bal
    FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  SELECT max(o_id) INTO v_o_id
    FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = p_c;
  IF v_o_id IS NOT NULL THEN
    SELECT o_carrier_id INTO v_carrier
      FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_id = v_o_id;
    FOR r IN SELECT ol_i_id, ol_quantity, ol_amount, ol_delivery_d
               FROM order_line
              WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o_id LOOP
      v_sum := v_sum + r.ol_amount;
    END LOOP;
  END IF;
  RETURN v_bal + v_sum;
END;
$$;

CREATE FUNCTION delivery(p_w integer, p_d integer, p_carrier integer, p_date integer)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_o_id  integer;
  v_c_id  integer;
  v_total integer := 0;
  r       record;
BEGIN
  SELECT min(no_o_id) INTO v_o_id
    FROM new_order WHERE no_w_id = p_w AND no_d_id = p_d;
  IF v_o_id IS NOT NULL THEN
    DELETE FROM new_order
      WHERE no_w_id = p_w AND no_d_id = p_d AND no_o_id = v_o_id;
    SELECT o_c_id INTO v_c_id
      FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_id = v_o_id;
    UPDATE orders SET o_carrier_id = p_carrier
      WHERE o_w_id = p_w AND o_d_id = p_d AND o_id = v_o_id;
    FOR r IN SELECT ol_number, ol_amount FROM order_line
              WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o_id LOOP
      v_total := v_total + r.ol_amount;
      UPDATE order_line SET ol_delivery_d = p_date
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o_id
          AND ol_number = r.ol_number;
    END LOOP;
    UPDATE customer
      SET c_balance = c_balance + v_total, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c_id;
  END IF;
  RETURN v_o_id;
END;
$$;

CREATE FUNCTION stock_level(p_w integer, p_d integer, p_threshold integer)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_next integer;
  v_qty  integer;
  v_low  integer := 0;
  r      record;
BEGIN
  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  FOR r IN SELECT DISTINCT ol_i_id FROM order_line
            WHERE ol_w_id = p_w AND ol_d_id = p_d
              AND ol_o_id >= v_next - 20 AND ol_o_id < v_next LOOP
    SELECT s_quantity INTO v_qty FROM stock WHERE s_w_id = p_w AND s_i_id = r.ol_i_id;
    IF v_qty < p_threshold THEN
      v_low := v_low + 1;
    END IF;
  END LOOP;
  RETURN v_low;
END;
$$;
