-- Both ways to take a job from a queue lock what they ask for, whole; no part of the answer is open.
-- run: isoscope explore FILE --level pg-rc
-- exit: 0
-- says: all assertions hold
CREATE TABLE job (id int PRIMARY KEY, taken_by int);
INSERT INTO job VALUES (1, NULL), (2, NULL);
CREATE FUNCTION take(p_worker int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_id int;
BEGIN
  UPDATE job SET taken_by = p_worker
   WHERE id = (SELECT id FROM job WHERE taken_by IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;
CREATE FUNCTION take_with(p_worker int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_id int;
BEGIN
  WITH next AS (
    SELECT id FROM job WHERE taken_by IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
  )
  UPDATE job SET taken_by = p_worker FROM next WHERE job.id = next.id RETURNING job.id INTO v_id;
  RETURN v_id;
END $$;
-- session a: take(1)
-- session b: take_with(2)
-- assert SELECT count(*) = 2 FROM job WHERE taken_by IS NOT NULL
