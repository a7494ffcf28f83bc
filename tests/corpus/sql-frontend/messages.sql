-- A message store: streams, expected versions, subscriptions, read positions.
CREATE SCHEMA IF NOT EXISTS store;
CREATE TABLE store.messages (global_position bigserial NOT NULL, stream text NOT NULL, position bigint NOT NULL, kind text NOT NULL,
                             data jsonb, written_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc') NOT NULL);
ALTER TABLE store.messages ADD PRIMARY KEY (global_position);
CREATE UNIQUE INDEX messages_stream ON store.messages USING btree (stream, position);
CREATE TABLE store.subscription (name text PRIMARY KEY, last_position bigint NOT NULL DEFAULT 0, owner text);
CREATE TABLE store.handled (subscription text NOT NULL REFERENCES store.subscription (name), position bigint NOT NULL, PRIMARY KEY (subscription, position));

CREATE OR REPLACE FUNCTION store.stream_version(_stream text) RETURNS bigint AS $$
DECLARE _version bigint;
BEGIN
  SELECT max(position) INTO _version FROM store.messages WHERE stream = _stream;
  RETURN _version;
END;
$$ LANGUAGE plpgsql STABLE;

CREATE OR REPLACE FUNCTION store.write_message(_stream text, _kind text, _data jsonb, _expected bigint DEFAULT NULL) RETURNS bigint AS $$
DECLARE
  _version bigint;
  _next bigint;
BEGIN
  _version := store.stream_version(_stream);
  IF _version IS NULL THEN
    _version := -1;
  END IF;
  IF _expected IS NOT NULL THEN
    IF _expected != _version THEN
      RAISE EXCEPTION 'Wrong expected version: % (Stream: %, Stream Version: %)', _expected, _stream, _version;
    END IF;
  END IF;
  _next := _version + 1;
  INSERT INTO store.messages (stream, position, kind, data) VALUES (_stream, _next, _kind, _data);
  RETURN _next;
END;
$$ LANGUAGE plpgsql VOLATILE;

CREATE OR REPLACE FUNCTION store.get_messages(_stream text, _position bigint DEFAULT 0, _batch integer DEFAULT 1000) RETURNS SETOF store.messages AS $$
BEGIN
  RETURN QUERY SELECT * FROM store.messages WHERE stream = _stream AND position >= _position ORDER BY position LIMIT _batch;
END;
$$ LANGUAGE plpgsql STABLE;

CREATE OR REPLACE FUNCTION store.last_message(_stream text) RETURNS store.messages AS $$
DECLARE _message store.messages%ROWTYPE;
BEGIN
  SELECT * INTO _message FROM store.messages WHERE stream = _stream ORDER BY position DESC LIMIT 1;
  RETURN _message;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION store.subscribe(_name text, _owner text) RETURNS bigint AS $$
  INSERT INTO store.subscription (name, owner) VALUES (_name, _owner)
  ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner RETURNING last_position;
$$ LANGUAGE sql;

CREATE OR REPLACE FUNCTION store.next_messages(_name text, _batch integer) RETURNS TABLE (pos bigint, stream_name text) AS $$
DECLARE _last bigint;
BEGIN
  SELECT s.last_position INTO _last FROM store.subscription s WHERE s.name = _name FOR UPDATE;
  RETURN QUERY
    SELECT m.global_position, m.stream FROM store.messages m
    LEFT JOIN store.handled h ON h.subscription = _name AND h.position = m.global_position
    WHERE m.global_position > _last AND h.position IS NULL
    ORDER BY m.global_position LIMIT _batch;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION store.acknowledge(_name text, _positions bigint[]) RETURNS integer AS $$
DECLARE
  _position bigint;
  _count integer := 0;
BEGIN
  FOREACH _position IN ARRAY _positions LOOP
    BEGIN
      INSERT INTO store.handled (subscription, position) VALUES (_name, _position);
      _count := _count + 1;
    EXCEPTION WHEN unique_violation THEN
      NULL;
    END;
  END LOOP;
  UPDATE store.subscription SET last_position = greatest(last_position, (SELECT max(p) FROM unnest(_positions) AS p)) WHERE name = _name;
  RETURN _count;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION store.lock_stream(_stream text) RETURNS void AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(_stream));
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION store.lagging(_behind bigint) RETURNS TABLE (sub text, lag bigint) AS $$
  WITH head AS (SELECT coalesce(max(global_position), 0) AS at FROM store.messages)
  SELECT s.name, h.at - s.last_position FROM store.subscription s CROSS JOIN head h WHERE h.at - s.last_position > _behind;
$$ LANGUAGE sql STABLE;
