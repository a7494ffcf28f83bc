-- Whoever finds a row sees the call that inserted it, if no row is ever deleted: the formulas did not
-- say so, and a check by a column that is not the key, behind a lock on the parent, was never proved.
-- run: isoscope audit FILE --prove
-- exit: 0
-- says: proved: add and set_limit by induction; how_many depends on nothing
-- run: isoscope audit FILE --prove --initial any
-- exit: 0
-- says: serializable: every execution

-- An advisory lock does the same, also one of a text: the hash of a text is not NULL.
-- run: sed 's/SELECT most INTO v_most .*/PERFORM pg_advisory_xact_lock(hashtext(p_note)); v_most := 2;/; s/WHERE tenant = p_tenant;/WHERE note = p_note;/' FILE > TEMP/advisory.sql; isoscope audit TEMP/advisory.sql --prove --only add
-- exit: 0
-- says: serializable: every execution

-- The snapshot of REPEATABLE READ may be older than the lock, and where projects move to another tenant,
-- or the lock is one that the other calls share, nothing orders the calls.
-- run: isoscope audit FILE --level pg-rr
-- exit: 1
-- says: write skew between 2 calls of add
-- run: sed 's/FOR NO KEY UPDATE/FOR SHARE/' FILE > TEMP/share.sql; isoscope audit TEMP/share.sql --only add
-- exit: 1
-- says: write skew between 2 calls of add
-- run: sed 's/  UPDATE tenant SET most = p_most WHERE id = p_tenant/  UPDATE project SET tenant = p_tenant WHERE id = p_most/' FILE > TEMP/move.sql; isoscope audit TEMP/move.sql --prove --only add,set_limit
-- exit: 3
-- says: unknown

-- Where rows are deleted, one that was found may have been inserted by an earlier call.
-- run: sed 's/  UPDATE tenant SET most = p_most WHERE id = p_tenant/  DELETE FROM project WHERE id = p_most/' FILE > TEMP/delete.sql; isoscope audit TEMP/delete.sql --prove --only add,set_limit
-- exit: 1
-- says: lost update between add and set_limit

CREATE TABLE tenant (id int PRIMARY KEY, most int NOT NULL);
CREATE TABLE project (id int PRIMARY KEY, tenant int NOT NULL REFERENCES tenant, note text NOT NULL);

CREATE FUNCTION add(p_tenant int, p_id int, p_note text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_most int; v_count int;
BEGIN
  SELECT most INTO v_most FROM tenant WHERE id = p_tenant FOR NO KEY UPDATE;
  SELECT count(*) INTO v_count FROM project WHERE tenant = p_tenant;
  IF v_count < v_most THEN
    INSERT INTO project VALUES (p_id, p_tenant, p_note);
    RETURN true;
  END IF;
  RETURN false;
END $$;

CREATE FUNCTION set_limit(p_tenant int, p_most int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tenant SET most = p_most WHERE id = p_tenant;
END $$;

CREATE FUNCTION how_many(p_tenant int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE v_count int;
BEGIN
  SELECT count(*) INTO v_count FROM project WHERE tenant = p_tenant;
  RETURN v_count;
END $$;
