#include "sql/read/psql_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/application.h"
#include "support/rng.h"

namespace isoscope::sql {
namespace {

// As pg_dump 15.18 writes it, shortened.
constexpr std::string_view kDump = R"(--
-- PostgreSQL database dump
--

\restrict 9g6CpEao4U9xYs4RSAySTut2WYTv4RY2kovbLJLx5arTzODFp3dvsTtRnndRIVG

ALTER TABLE IF EXISTS ONLY public.accounts DROP CONSTRAINT IF EXISTS accounts_pkey;
DROP TABLE IF EXISTS public.accounts;
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);

CREATE FUNCTION public.deposit(a integer, n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE accounts SET balance = balance + n WHERE id = a;
END;
$$;

ALTER FUNCTION public.deposit(a integer, n integer) OWNER TO me;

CREATE TABLE public.accounts (
    id integer NOT NULL,
    owner text NOT NULL,
    balance integer DEFAULT 0,
    CONSTRAINT accounts_balance_check CHECK ((balance >= 0))
);

CREATE SEQUENCE public.accounts_id_seq
    AS integer
    START WITH 1
    CACHE 1;
ALTER TABLE public.accounts_id_seq OWNER TO me;
ALTER SEQUENCE public.accounts_id_seq OWNED BY public.accounts.id;
ALTER TABLE ONLY public.accounts ALTER COLUMN id SET DEFAULT nextval('public.accounts_id_seq'::regclass);

COPY public.accounts (id, owner, balance) FROM stdin;
1	alice	100
2	bob's $$ "	50
\.

SELECT pg_catalog.setval('public.accounts_id_seq', 2, true);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

\unrestrict 9g6CpEao4U9xYs4RSAySTut2WYTv4RY2kovbLJLx5arTzODFp3dvsTtRnndRIVG
)";

TEST(PsqlLines, OfADumpAreSkipped) {
  const auto app = parse_application(kDump);
  ASSERT_TRUE(app) << render(app.error());
  ASSERT_EQ(app->functions.size(), 1U);
  EXPECT_EQ(app->functions[0].name, "deposit");
  EXPECT_EQ(app->functions[0].place.line, 12U);
  ASSERT_EQ(app->tables.size(), 1U);
  EXPECT_EQ(app->tables[0].primary_key.size(), 1U);
  EXPECT_TRUE(app->problems.empty());
  std::vector<std::string> notes;
  for (const Note& note : app->notes) notes.push_back(note.what);
  EXPECT_THAT(notes, ::testing::Contains(::testing::HasSubstr("COPY is ignored")));
}

TEST(PsqlLines, KeepTheirPlaces) {
  const std::string sql = without_psql_lines(kDump);
  ASSERT_EQ(sql.size(), kDump.size());
  for (std::size_t i = 0; i < sql.size(); ++i)
    EXPECT_TRUE(sql[i] == kDump[i] || (sql[i] == ' ' && kDump[i] != '\n')) << i;
  EXPECT_EQ(sql.find('\\'), std::string::npos);
  EXPECT_EQ(sql.find("alice"), std::string::npos);
}

TEST(PsqlLines, AreNotInsideOfQuotesBodiesAndComments) {
  for (const std::string_view text : {
           "SELECT 'a\n\\b', E'it\\'s \\\n\\c';",
           "SELECT \"a\n\\b\";",
           "CREATE FUNCTION f() AS $$\n\\restrict\n$$;",
           "CREATE FUNCTION f() AS $a_1$ $$ \n\\x $a$ $a_1$;",
           "/* /* \\a */ \\b */ -- \\c\nSELECT 1;",
           "SELECT $1 + a$b; -- \\d",
       })
    EXPECT_EQ(without_psql_lines(text), text);
}

TEST(PsqlLines, EndAStatementWherePsqlDoes) {
  EXPECT_EQ(without_psql_lines("SELECT 1 \\gexec x\nSELECT 2;"), "SELECT 1 ;       \nSELECT 2;");
  EXPECT_EQ(without_psql_lines("\\c db\r\nSELECT 2;"), "      \nSELECT 2;");
  EXPECT_EQ(without_psql_lines("copy t from STDIN with (format csv);\n1\n\\.\r\nSELECT 2;"),
            "copy t from STDIN with (format csv);\n \n   \nSELECT 2;");
  EXPECT_EQ(without_psql_lines("COPY t FROM stdin;\n1\n2\\"), "COPY t FROM stdin;\n \n  ");
  EXPECT_EQ(without_psql_lines("COPY t FROM 'file';\n\\q"), "COPY t FROM 'file';\n  ");
}

// Whatever the text is, it keeps its length and its lines.
TEST(PsqlLines, SurviveAnyText) {
  constexpr std::string_view kPieces[] = {"'",    "\"", "$$",        "$a$", "\\",   "\n",
                                          "/*",   "*/", "--",        ";",   "COPY", " t ",
                                          "FROM", " ",  " stdin;\n", "E'"};
  Rng rng(3);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::size_t i = rng.below(25); i > 0; --i) text += kPieces[rng.below(std::size(kPieces))];
    const std::string sql = without_psql_lines(text);
    ASSERT_EQ(sql.size(), text.size()) << text;
    ASSERT_EQ(std::count(sql.begin(), sql.end(), '\n'), std::count(text.begin(), text.end(), '\n'))
        << text;
  }
}

}  // namespace
}  // namespace isoscope::sql
