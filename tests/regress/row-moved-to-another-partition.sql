-- At READ COMMITTED, who waits for a row that is moved to another partition gets 40001. It was taken to go on
-- with the new row, so that runs were shown which the server refuses, and nothing was said.
-- run: isoscope audit FILE --level pg-rc --only finish
-- exit: 3
-- says: may move a row of 'job' to another partition
-- says not: anomaly
-- run: isoscope explore FILE --level pg-rc
-- exit: 3
-- says: may move a row of 'job' to another partition
-- run: isoscope audit FILE --level pg-rc --only retry
-- exit: 1
-- says not: may move a row

CREATE TABLE job (id int NOT NULL, state int NOT NULL, tries int NOT NULL) PARTITION BY LIST (state);
CREATE TABLE job_open PARTITION OF job FOR VALUES IN (0);
CREATE TABLE job_done PARTITION OF job FOR VALUES IN (1);
INSERT INTO job VALUES (1, 0, 0);
CREATE FUNCTION finish(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT tries INTO n FROM job WHERE id = p;
  UPDATE job SET state = 1, tries = n + 1 WHERE id = p;
END $$;
CREATE FUNCTION retry(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT tries INTO n FROM job WHERE id = p;
  UPDATE job SET tries = n + 1 WHERE id = p;
END $$;
-- session a: finish(1)
-- session b: finish(1)
