-- Course registration (ANODE paper, section 6). Names are keys; a course knows how many places it
-- has left. Here a student enrols while the student is removed: each looks at what the other
-- changes, so at si both can succeed.
CREATE TABLE course (
  c_name   text PRIMARY KEY,
  capacity integer NOT NULL
);
CREATE TABLE student (
  s_name text PRIMARY KEY
);
CREATE TABLE enrollment (
  e_s_name text NOT NULL,
  e_c_name text NOT NULL,
  PRIMARY KEY (e_s_name, e_c_name)
);
INSERT INTO course VALUES ('logic', 2);
INSERT INTO student VALUES ('ada');

CREATE FUNCTION add_course(p_c text, p_cap integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_name text;
BEGIN
  SELECT c_name INTO v_name FROM course WHERE c_name = p_c;
  IF v_name IS NULL THEN
    INSERT INTO course (c_name, capacity) VALUES (p_c, p_cap);
    RETURN true;
  END IF;
  RETURN false;
END;
$$;

CREATE FUNCTION add_student(p_s text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_name text;
BEGIN
  SELECT s_name INTO v_name FROM student WHERE s_name = p_s;
  IF v_name IS NULL THEN
    INSERT INTO student (s_name) VALUES (p_s);
    RETURN true;
  END IF;
  RETURN false;
END;
$$;

CREATE FUNCTION rem_course(p_c text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_s text;
BEGIN
  SELECT e_s_name INTO v_s FROM enrollment WHERE e_c_name = p_c LIMIT 1;
  IF v_s IS NULL THEN
    DELETE FROM course WHERE c_name = p_c;
    RETURN true;
  END IF;
  RETURN false;
END;
$$;

CREATE FUNCTION rem_student(p_s text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_c text;
BEGIN
  SELECT e_c_name INTO v_c FROM enrollment WHERE e_s_name = p_s LIMIT 1;
  IF v_c IS NULL THEN
    DELETE FROM student WHERE s_name = p_s;
    RETURN true;
  END IF;
  RETURN false;
END;
$$;

CREATE FUNCTION enroll(p_s text, p_c text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_s   text;
  v_cap integer;
BEGIN
  SELECT s_name INTO v_s FROM student WHERE s_name = p_s;
  SELECT capacity INTO v_cap FROM course WHERE c_name = p_c;
  IF v_s IS NOT NULL AND v_cap IS NOT NULL THEN
    IF v_cap > 0 THEN
      UPDATE course SET capacity = v_cap - 1 WHERE c_name = p_c;
      INSERT INTO enrollment (e_s_name, e_c_name) VALUES (p_s, p_c);
      RETURN true;
    END IF;
  END IF;
  RETURN false;
END;
$$;

-- session alice: enroll('ada', 'logic')
-- session bob: rem_student('ada')
