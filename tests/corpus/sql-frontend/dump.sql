--
-- PostgreSQL database dump, in its own style
--
\restrict abcdef
SET statement_timeout = 0;
SET lock_timeout = 0;
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET default_tablespace = '';

CREATE TABLE public.ticket (
    id integer NOT NULL,
    title character varying(80) NOT NULL,
    status character varying(16) DEFAULT 'open'::character varying NOT NULL,
    assignee integer,
    votes integer DEFAULT 0 NOT NULL
);
COMMENT ON TABLE public.ticket IS 'what people ask for';
CREATE SEQUENCE public.ticket_id_seq AS integer START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE public.ticket_id_seq OWNED BY public.ticket.id;
CREATE TABLE public.vote (ticket_id integer NOT NULL, voter integer NOT NULL);
CREATE VIEW public.open_ticket AS
 SELECT ticket.id, ticket.title, ticket.votes FROM public.ticket WHERE ((ticket.status)::text = 'open'::text);
ALTER TABLE ONLY public.ticket ALTER COLUMN id SET DEFAULT nextval('public.ticket_id_seq'::regclass);

CREATE FUNCTION public.vote_for(p_ticket integer, p_voter integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
  n integer;
BEGIN
  INSERT INTO public.vote (ticket_id, voter) VALUES (p_ticket, p_voter) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN -1;
  END IF;
  UPDATE public.ticket SET votes = votes + 1 WHERE id = p_ticket RETURNING votes INTO n;
  RETURN n;
END;
$$;
CREATE FUNCTION public.count_votes(p_ticket integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE public.ticket t SET votes = s.n
  FROM (SELECT v.ticket_id, count(*) AS n FROM public.vote v GROUP BY v.ticket_id) s
  WHERE t.id = s.ticket_id AND t.id = p_ticket;
END;
$$;
CREATE FUNCTION public.assign_next(p_user integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
  v_id integer;
BEGIN
  SELECT o.id INTO v_id FROM public.open_ticket o ORDER BY o.votes DESC, o.id LIMIT 1;
  IF v_id IS NULL THEN
    RETURN NULL;
  END IF;
  UPDATE public.ticket SET assignee = p_user, status = 'taken' WHERE id = v_id AND assignee IS NULL;
  RETURN CASE WHEN FOUND THEN v_id END;
END;
$$;
CREATE FUNCTION public.open_ticket_count() RETURNS bigint
    LANGUAGE sql STABLE
    AS $$ SELECT count(*) FROM public.open_ticket $$;
CREATE FUNCTION public.report(OUT open_tickets bigint, OUT all_votes bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
  SELECT count(*), sum(votes) INTO open_tickets, all_votes FROM public.open_ticket;
END;
$$;
COPY public.ticket (id, title, status, assignee, votes) FROM stdin;
1	first	open	\N	0
\.
SELECT pg_catalog.setval('public.ticket_id_seq', 1, true);
ALTER TABLE ONLY public.ticket ADD CONSTRAINT ticket_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.vote ADD CONSTRAINT vote_pkey PRIMARY KEY (ticket_id, voter);
ALTER TABLE ONLY public.vote ADD CONSTRAINT vote_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES public.ticket(id);
\unrestrict abcdef
