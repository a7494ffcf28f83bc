-- A dump of pg_dump ended in "syntax error at or near \": it has commands of psql, and rows behind COPY.
-- run: isoscope audit FILE --level pc
-- exit: 1
-- says: lost update
-- says: COPY is ignored
-- says not: error
-- run: isoscope audit FILE --level si --prove
-- exit: 0
-- says: serializable: every execution

--
-- PostgreSQL database dump
--

\restrict 9g6CpEao4U9xYs4RSAySTut2WYTv4RY2kovbLJLx5arTzODFp3dvsTtRnndRIVG

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: deposit(integer, integer); Type: FUNCTION; Schema: public; Owner: me
--

CREATE FUNCTION public.deposit(a integer, n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE accounts SET balance = balance + n WHERE id = a;
END;
$$;


ALTER FUNCTION public.deposit(a integer, n integer) OWNER TO me;

--
-- Name: withdraw(integer, integer); Type: FUNCTION; Schema: public; Owner: me
--

CREATE FUNCTION public.withdraw(a integer, n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE b integer;
BEGIN
  SELECT balance INTO b FROM accounts WHERE id = a;
  IF b >= n THEN UPDATE accounts SET balance = b - n WHERE id = a; END IF;
END;
$$;


ALTER FUNCTION public.withdraw(a integer, n integer) OWNER TO me;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: accounts; Type: TABLE; Schema: public; Owner: me
--

CREATE TABLE public.accounts (
    id integer NOT NULL,
    owner text NOT NULL,
    balance integer DEFAULT 0,
    note text,
    CONSTRAINT accounts_balance_check CHECK ((balance >= 0))
);


ALTER TABLE public.accounts OWNER TO me;

--
-- Name: TABLE accounts; Type: COMMENT; Schema: public; Owner: me
--

COMMENT ON TABLE public.accounts IS 'who has what';


--
-- Name: accounts_id_seq; Type: SEQUENCE; Schema: public; Owner: me
--

CREATE SEQUENCE public.accounts_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.accounts_id_seq OWNER TO me;

--
-- Name: accounts_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: me
--

ALTER SEQUENCE public.accounts_id_seq OWNED BY public.accounts.id;


--
-- Name: log; Type: TABLE; Schema: public; Owner: me
--

CREATE TABLE public.log (
    id integer NOT NULL,
    acct integer,
    amount numeric(10,2)
);


ALTER TABLE public.log OWNER TO me;

--
-- Name: accounts id; Type: DEFAULT; Schema: public; Owner: me
--

ALTER TABLE ONLY public.accounts ALTER COLUMN id SET DEFAULT nextval('public.accounts_id_seq'::regclass);


--
-- Data for Name: accounts; Type: TABLE DATA; Schema: public; Owner: me
--

COPY public.accounts (id, owner, balance, note) FROM stdin;
1	alice	100	\N
2	bob's	50	tab\there\\ and\nline
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: public; Owner: me
--

COPY public.log (id, acct, amount) FROM stdin;
1	1	12.50
\.


--
-- Name: accounts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: me
--

SELECT pg_catalog.setval('public.accounts_id_seq', 2, true);


--
-- Name: accounts accounts_pkey; Type: CONSTRAINT; Schema: public; Owner: me
--

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);


--
-- Name: log log_pkey; Type: CONSTRAINT; Schema: public; Owner: me
--

ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (id);


--
-- Name: log_acct; Type: INDEX; Schema: public; Owner: me
--

CREATE INDEX log_acct ON public.log USING btree (acct);


--
-- Name: log log_acct_fkey; Type: FK CONSTRAINT; Schema: public; Owner: me
--

ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_acct_fkey FOREIGN KEY (acct) REFERENCES public.accounts(id);


--
-- PostgreSQL database dump complete
--

\unrestrict 9g6CpEao4U9xYs4RSAySTut2WYTv4RY2kovbLJLx5arTzODFp3dvsTtRnndRIVG
