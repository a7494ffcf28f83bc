-- "view-only", with three doctors on call at the start; and their departments were not shown,
-- without which nobody could repeat the run.
-- run: isoscope audit FILE
-- exit: 1
-- says: observable: no serial order has these results and this final state
-- says: on_call true, ward 't
CREATE TABLE doctors (doctor_id int PRIMARY KEY, on_call boolean NOT NULL, ward text NOT NULL);
CREATE FUNCTION go_off_call(p_doctor int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_ward text;
  v_n int;
BEGIN
  SELECT ward INTO v_ward FROM doctors WHERE doctor_id = p_doctor;
  SELECT count(*) INTO v_n FROM doctors WHERE ward = v_ward AND on_call;
  IF v_n <= 1 THEN
    RETURN false;
  END IF;
  UPDATE doctors SET on_call = false WHERE doctor_id = p_doctor;
  RETURN true;
END $$;
