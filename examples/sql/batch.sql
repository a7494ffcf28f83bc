-- Two workers send the letters that are not sent yet, and commit after each one. The rows of the
-- loop are those that were there when it began: what the other worker has committed since is not
-- seen, and a letter is sent twice.
CREATE TABLE letter (id int PRIMARY KEY, sent int NOT NULL);

CREATE PROCEDURE send_all() LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT id FROM letter WHERE sent = 0 ORDER BY id LOOP
    UPDATE letter SET sent = sent + 1 WHERE id = r.id;
    COMMIT;
  END LOOP;
END $$;

INSERT INTO letter VALUES (1, 0), (2, 0);

-- session alice: send_all()
-- session bob: send_all()

-- assert SELECT sent <= 1 FROM letter
