-- A job queue in the style of libraries: leases, retries, batches.
SET client_min_messages = warning;
CREATE TABLE jobs (
  id bigserial PRIMARY KEY,
  kind text NOT NULL,
  state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'done', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  worker text,
  run_at timestamptz NOT NULL DEFAULT now(),
  payload jsonb
);
CREATE INDEX jobs_ready ON jobs (run_at) WHERE state = 'ready';
CREATE TABLE job_log (id bigserial PRIMARY KEY, job bigint NOT NULL REFERENCES jobs (id), note text);
COMMENT ON TABLE jobs IS 'what is to be done';

CREATE OR REPLACE FUNCTION enqueue(p_kind text, p_payload jsonb DEFAULT NULL) RETURNS bigint AS $$
  INSERT INTO jobs (kind, payload) VALUES (p_kind, p_payload) RETURNING id;
$$ LANGUAGE sql;

CREATE OR REPLACE FUNCTION take_job(p_worker text) RETURNS SETOF jobs AS $$
BEGIN
  RETURN QUERY
    UPDATE jobs SET state = 'running', worker = p_worker, attempts = attempts + 1
    WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING *;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION take_batch(p_worker text, p_count integer) RETURNS TABLE (job_id bigint, job_kind text) AS $$
BEGIN
  RETURN QUERY
    WITH chosen AS (
      SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT p_count FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs j SET state = 'running', worker = p_worker
    FROM chosen c WHERE j.id = c.id
    RETURNING j.id, j.kind;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION finish_job(p_id bigint, p_note text) RETURNS boolean AS $$
DECLARE
  v_count integer;
BEGIN
  UPDATE jobs SET state = 'done' WHERE id = p_id AND state = 'running';
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count = 0 THEN
    RETURN false;
  END IF;
  INSERT INTO job_log (job, note) VALUES (p_id, p_note);
  RETURN true;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION fail_job(p_id bigint, p_max integer) RETURNS void AS $$
BEGIN
  UPDATE jobs
  SET state = CASE WHEN attempts >= p_max THEN 'failed' ELSE 'ready' END, worker = NULL
  WHERE id = p_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no job %', p_id USING ERRCODE = 'no_data_found';
  END IF;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION queue_stats() RETURNS TABLE (kind text, ready bigint, total bigint) AS $$
  SELECT j.kind, count(*) FILTER (WHERE j.state = 'ready'), count(*)
  FROM jobs j GROUP BY j.kind ORDER BY j.kind;
$$ LANGUAGE sql STABLE;

CREATE OR REPLACE FUNCTION release_worker(p_worker text) RETURNS integer AS $$
DECLARE
  r record;
  n integer := 0;
BEGIN
  FOR r IN UPDATE jobs SET state = 'ready', worker = NULL WHERE worker = p_worker RETURNING id LOOP
    n := n + 1;
    INSERT INTO job_log (job, note) VALUES (r.id, 'released');
  END LOOP;
  RETURN n;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION purge(p_limit integer) RETURNS bigint AS $$
DECLARE
  v_gone bigint;
BEGIN
  WITH old AS (SELECT id FROM jobs WHERE state = 'failed' LIMIT p_limit),
       logs AS (DELETE FROM job_log l USING old o WHERE l.job = o.id RETURNING l.id)
  SELECT count(*) INTO v_gone FROM logs;
  RETURN v_gone;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION requeue_kind(p_kind text) RETURNS void AS $$
BEGIN
  EXECUTE format('UPDATE jobs SET state = %L WHERE kind = %L', 'ready', p_kind);
END;
$$ LANGUAGE plpgsql;
