-- Doctors on call: one may go home if a colleague stays.
CREATE TABLE doctor (
  d_id    integer PRIMARY KEY,
  on_call boolean NOT NULL
);

CREATE FUNCTION go_home(p_id integer, p_colleague integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_stays boolean;
BEGIN
  SELECT on_call INTO v_stays FROM doctor WHERE d_id = p_colleague;
  IF v_stays AND p_id <> p_colleague THEN
    UPDATE doctor SET on_call = false WHERE d_id = p_id;
    RETURN true;
  END IF;
  RETURN false;
END;
$$;
