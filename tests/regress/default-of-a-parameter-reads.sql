-- False proof: the default of a parameter is computed by the statement that calls the function.
-- run: isoscope audit FILE --level pg-rr --prove
-- exit: 3
-- says: a call in the default of a parameter is not modelled

CREATE TABLE inv (id serial PRIMARY KEY, no integer NOT NULL);
CREATE FUNCTION next_no() RETURNS integer LANGUAGE sql AS $$ SELECT coalesce(max(no),0)+1 FROM inv $$;
CREATE FUNCTION add(n integer DEFAULT next_no()) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE r integer;
BEGIN
  INSERT INTO inv (no) VALUES (n);
  RETURN n;
END $$;
