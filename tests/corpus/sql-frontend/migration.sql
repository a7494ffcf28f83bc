-- Migrations one behind the other, as a folder of numbered files would be applied.
BEGIN;
CREATE TABLE users (id serial PRIMARY KEY, email text NOT NULL, old_name text, points integer DEFAULT 0);
CREATE TABLE sessions_old (id integer);
COMMIT;
ALTER TABLE users ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE users RENAME COLUMN old_name TO display_name;
ALTER TABLE users ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE users ADD COLUMN legacy text;
ALTER TABLE users DROP COLUMN legacy;
ALTER TABLE users ALTER COLUMN points SET NOT NULL, ALTER COLUMN points SET DEFAULT 10;
ALTER TABLE sessions_old RENAME TO login_session;
ALTER TABLE login_session ADD COLUMN user_id integer REFERENCES users (id);
ALTER TABLE login_session ADD PRIMARY KEY (id);
CREATE TABLE badge (user_id integer REFERENCES users, name text, PRIMARY KEY (user_id, name));
CREATE TABLE temp_import (a integer);
DROP TABLE temp_import;
CREATE FUNCTION register(p_email text) RETURNS integer LANGUAGE sql AS $$ INSERT INTO users (email) VALUES (p_email) RETURNING id $$;
CREATE OR REPLACE FUNCTION register(p_email text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v_id integer;
BEGIN
  INSERT INTO users (email, display_name) VALUES (lower(p_email), split_part(p_email, '@', 1))
  ON CONFLICT ON CONSTRAINT users_email_key DO NOTHING RETURNING id INTO v_id;
  IF v_id IS NULL THEN SELECT id INTO v_id FROM users WHERE email = lower(p_email); END IF;
  RETURN v_id;
END $$;
CREATE FUNCTION obsolete() RETURNS void LANGUAGE sql AS $$ DELETE FROM badge $$;
DROP FUNCTION obsolete();
CREATE FUNCTION award(p_user integer, p_name text, p_points integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO badge VALUES (p_user, p_name);
  UPDATE users SET points = points + p_points WHERE id = p_user;
  RETURN true;
EXCEPTION
  WHEN unique_violation THEN RETURN false;
END $$;
CREATE FUNCTION rename_user(p_id integer, p_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE users SET display_name = p_name WHERE users.id = p_id;
END $$;
CREATE FUNCTION leaders(p_count integer) RETURNS TABLE (place integer, who text) LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  place := 0;
  FOR r IN SELECT display_name FROM users ORDER BY points DESC NULLS LAST, id LIMIT p_count LOOP
    place := place + 1;
    who := r.display_name;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE FUNCTION log_in(p_user integer, p_session integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  DELETE FROM login_session WHERE user_id = p_user AND id NOT IN (SELECT id FROM login_session WHERE user_id = p_user ORDER BY id DESC LIMIT 2);
  INSERT INTO login_session (id, user_id) VALUES (p_session, p_user);
  SELECT count(*) INTO n FROM login_session WHERE user_id = p_user;
  RETURN n;
END $$;
CREATE FUNCTION log_in(p_email text, p_session integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v_user integer;
BEGIN
  SELECT id INTO STRICT v_user FROM users WHERE email = p_email;
  INSERT INTO login_session (id, user_id) VALUES (p_session, v_user);
  RETURN v_user;
END $$;
GRANT SELECT ON users TO PUBLIC;
