// SQL and PL/pgSQL statements as statements of ours.
#include <gmock/gmock.h>

#include "sql/front_end.h"

namespace isoscope::sql {
namespace {

TEST(Statements, SelectIntoVariables) {
  EXPECT_EQ(outline_of_statements("SELECT balance, owner INTO v, s FROM account WHERE id = p;"),
            "select account[(#0.id = p)] #0.balance #0.owner -> v, s\n");
  EXPECT_EQ(outline_of_statements("SELECT balance INTO STRICT v FROM account LIMIT 1 OFFSET p;"),
            "select strict account #0.balance limit 1 offset p -> v\n");
  EXPECT_EQ(outline_of_statements("SELECT DISTINCT balance AS x INTO v FROM account\n"
                                  "ORDER BY x DESC, 1, id;"),
            "select account distinct #0.balance order #0.balance desc order #0.balance order #0.id "
            "-> v\n");
  EXPECT_EQ(outline_of_statements("SELECT balance INTO v FROM account FOR SHARE;"),
            "select account #0.balance for share -> v\n");
  EXPECT_EQ(outline_of_statements("SELECT p + 1 INTO v;"), "select  (p + 1) -> v\n");
}

TEST(Statements, SelectIntoRecords) {
  EXPECT_EQ(outline_of_statements("SELECT * INTO r FROM account FOR UPDATE; v := r.balance;"),
            "select account #0.id #0.owner #0.balance for update -> r.id, r.owner, r.balance\n"
            "v := r.balance\n");
  EXPECT_EQ(outline_of(in_plpgsql("",
                                  "DECLARE w account%ROWTYPE; x account; o account.owner%TYPE;"
                                  " BEGIN SELECT * INTO w FROM account; SELECT 1, 'a', 2 INTO x;"
                                  " o := w.owner; END")),
            "select account #0.id #0.owner #0.balance -> w.id, w.owner, w.balance\n"
            "select  1 'a' 2 -> x.id, x.owner, x.balance\n"
            "o := w.owner\n");
}

TEST(Statements, SelectAggregates) {
  EXPECT_EQ(outline_of_statements("SELECT count(*), max(id) INTO v, w FROM account;"),
            "select account countNULL max#0.id -> v, w\n");
  EXPECT_EQ(outline_of_statements("SELECT count(DISTINCT owner), count(1) INTO v, w FROM account;"),
            "select account count distinct #0.owner countNULL -> v, w\n");
}

TEST(Statements, ComputeWithAggregatesBehindTheQuery) {
  EXPECT_EQ(outline_of_statements("SELECT coalesce(max(id), 0) + 1 INTO v FROM account;"),
            "select account max#0.id -> (aggregate 1)\n"
            "v := (coalesce((aggregate 1), 0) + 1)\n");
  EXPECT_EQ(outline_of_statements("FOR r IN SELECT sum(balance) / 2 AS half FROM account LOOP\n"
                                  "v := r.half; END LOOP;"),
            "for (aggregate 1) in account sum#0.balance\n"
            "  r.half := ((aggregate 1) / 2)\n"
            "  v := r.half\n");
}

TEST(Statements, JoinTables) {
  const std::string expected = "select account, entry[(#1.account = #0.id)] #1.amount -> v\n";
  EXPECT_EQ(outline_of_statements(
                "SELECT e.amount INTO v FROM account a JOIN entry e ON e.account = a.id;"),
            expected);
  EXPECT_EQ(outline_of_statements(
                "SELECT amount INTO v FROM account, entry WHERE entry.account = account.id;"),
            expected);
  EXPECT_EQ(outline_of_statements("SELECT x.owner INTO s FROM account x JOIN account y USING (id)"
                                  " WHERE id = p;"),
            "select account, account[((#0.id = #1.id) and (#0.id = p))] #0.owner -> s\n");
}

TEST(Statements, InsertRows) {
  EXPECT_EQ(outline_of_statements("INSERT INTO account VALUES (p, q, 0), (2, DEFAULT, -5);"),
            "insert account id = p owner = q balance = 0\n"
            "insert account id = 2 balance = -5\n");
  EXPECT_EQ(outline_of_statements("INSERT INTO entry (amount) VALUES (p) RETURNING no INTO v;"),
            "insert entry amount = p returning #0.no -> v\n");
  EXPECT_EQ(outline_of_statements("INSERT INTO entry (account, amount)\n"
                                  "SELECT id, balance FROM account WHERE balance > 0;"),
            "for (inserted 1), (inserted 2) in account[(#0.balance > 0)] #0.id #0.balance\n"
            "  insert entry account = (inserted 1) amount = (inserted 2)\n");
  EXPECT_EQ(outline_of_statements("INSERT INTO entry DEFAULT VALUES;"), "insert entry\n");
}

TEST(Statements, InsertOnConflict) {
  EXPECT_EQ(outline_of_statements("INSERT INTO account VALUES (p, q, 0) ON CONFLICT DO NOTHING;"),
            "insert account id = p owner = q balance = 0 on conflict nothing\n");
  EXPECT_EQ(outline_of_statements(
                "INSERT INTO account AS a VALUES (p, q, 1) ON CONFLICT (id) DO UPDATE\n"
                "SET balance = a.balance + excluded.balance, owner = q WHERE a.owner <> q;"),
            "insert account id = p owner = q balance = 1 on conflict id set"
            " balance = (#0.balance + #1.balance) owner = q where (#0.owner <> q)\n");
  EXPECT_EQ(outline_of_statements("INSERT INTO account VALUES (p, q, 1) ON CONFLICT ON CONSTRAINT\n"
                                  "account_pkey DO UPDATE SET balance = balance + 1;"),
            "insert account id = p owner = q balance = 1 on conflict id set"
            " balance = (#0.balance + 1)\n");
}

TEST(Statements, TakeNextvalAsAFreshValue) {
  const Application app = application_of(
      "CREATE TABLE t (a integer PRIMARY KEY, b integer);\n"
      "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$\n"
      "BEGIN INSERT INTO t VALUES (nextval('s'), 1); END $$");
  EXPECT_TRUE(app.tables[0].columns[ColumnId{0}].is_fresh);
  EXPECT_EQ(Outline(app, app.functions[0]).of(app.functions[0].body), "insert t b = 1\n");
}

TEST(Statements, InferIndexesAsTheServerDoes) {
  const std::string tables =
      "CREATE TABLE t (id integer PRIMARY KEY, email text, gone boolean, n integer);\n"
      "CREATE UNIQUE INDEX t_email ON t (email) WHERE NOT gone;\n"
      "CREATE UNIQUE INDEX t_lower ON t (lower(email), n);\n";
  const auto of = [&](const std::string& clause) {
    const auto app = parse_application(
        tables + "CREATE FUNCTION f(p integer) RETURNS void LANGUAGE plpgsql AS $$\n" +
        "BEGIN INSERT INTO t VALUES (p) ON CONFLICT " + clause + " DO NOTHING; END $$");
    if (app->functions.empty()) return app->problems[0].what;
    return Outline(*app, app->functions[0]).of(app->functions[0].body);
  };
  EXPECT_EQ(of("(email) WHERE gone = false"),
            "insert t id = p on conflict email t_email nothing\n");
  EXPECT_EQ(of("(email) WHERE n > 1 AND NOT gone"),
            "insert t id = p on conflict email t_email nothing\n");
  EXPECT_EQ(of("(n, lower(email))"), "insert t id = p on conflict t_lower nothing\n");
  EXPECT_EQ(of("(id) WHERE gone"), "insert t id = p on conflict id nothing\n");
  EXPECT_EQ(of("(email)"), "ON CONFLICT names no key of 't'");
  EXPECT_EQ(of("(lower(email))"), "ON CONFLICT names no key of 't'");
  EXPECT_EQ(of("(email) WHERE gone IS NOT TRUE"),
            "whether WHERE of ON CONFLICT implies that of index 't_email' is not known");
}

TEST(Statements, ChangeTheTableOfAView) {
  const std::string tables =
      "CREATE TABLE t (id integer PRIMARY KEY, v integer, w integer);\n"
      "CREATE VIEW a (k, x, y) AS SELECT id, v, v + 1 FROM t WHERE w > 0;\n"
      "CREATE VIEW b AS SELECT x AS z, k FROM a WHERE x < 9;\n"
      "CREATE VIEW checked AS SELECT id FROM t WHERE id > 1 WITH CHECK OPTION;\n"
      "CREATE VIEW counted AS SELECT count(*) FROM t;\n"
      "CREATE VIEW joined AS SELECT t.id FROM t JOIN t u ON u.id = t.v;\n";
  const auto of = [&](const std::string& statement) {
    const auto app = parse_application(
        tables + "CREATE FUNCTION f(p integer) RETURNS void LANGUAGE plpgsql AS $$\n" + "BEGIN " +
        statement + "; END $$");
    if (app->functions.empty()) return app->problems[0].what;
    return Outline(*app, app->functions[0]).of(app->functions[0].body);
  };
  EXPECT_EQ(of("UPDATE b SET z = z + 1 WHERE b.k = p"),
            "update t[((#0.w > 0) and (#0.v < 9) and (#0.id = p))] v = (#0.v + 1)\n");
  EXPECT_EQ(of("DELETE FROM a WHERE y = p"), "delete t[((#0.w > 0) and ((#0.v + 1) = p))]\n");
  EXPECT_EQ(of("INSERT INTO b VALUES (1, p)"), "insert t v = 1 id = p\n");
  EXPECT_EQ(of("INSERT INTO a (k) VALUES (p)"), "insert t id = p\n");
  EXPECT_EQ(of("UPDATE a SET y = 1"), "the view has no column 'y' that can be set");
  EXPECT_EQ(of("INSERT INTO a (k) VALUES (p) ON CONFLICT DO NOTHING"),
            "ON CONFLICT of a view is not modelled");
  EXPECT_EQ(of("DELETE FROM checked"),
            "a change of the view 'checked' is not modelled: it has WITH CHECK OPTION");
  EXPECT_EQ(of("DELETE FROM counted"),
            "a change of the view 'counted' is not modelled: it is more than a choice of rows and "
            "columns");
  EXPECT_EQ(of("DELETE FROM joined"),
            "a change of the view 'joined' is not modelled: it is not of one table");
}

TEST(Statements, UpdateAndDeleteRows) {
  EXPECT_EQ(outline_of_statements("UPDATE account AS a SET balance = a.balance + p, owner = NULL\n"
                                  "WHERE a.id = p RETURNING balance INTO v;"),
            "update account[(#0.id = p)] balance = (#0.balance + p) owner = NULL"
            " returning #0.balance -> v\n");
  EXPECT_EQ(outline_of_statements("UPDATE account SET (balance, owner) = (1, 'a');"),
            "update account balance = 1 owner = 'a'\n");
  EXPECT_EQ(outline_of_statements("DELETE FROM entry WHERE account = p RETURNING * INTO r;"),
            "delete entry[(#0.account = p)] returning #0.no returning #0.account returning"
            " #0.amount -> r.no, r.account, r.amount\n");
}

TEST(Statements, PerformThrowsValuesAway) {
  EXPECT_EQ(outline_of_statements("PERFORM owner FROM account WHERE id = p FOR UPDATE;"),
            "select account[(#0.id = p)] for update\n");
}

TEST(Statements, BranchWithElsif) {
  EXPECT_EQ(outline_of_statements("IF p = 1 THEN v := 1; ELSIF p = 2 THEN v := 2;\n"
                                  "ELSIF EXISTS (SELECT 1 FROM entry) THEN v := 3; ELSE v := 4;\n"
                                  "END IF;"),
            "if (p = 1)\n"
            "  v := 1\n"
            "else\n"
            "  if (p = 2)\n"
            "    v := 2\n"
            "  else\n"
            "    exists entry -> (exists 1)\n"
            "    if (exists 1)\n"
            "      v := 3\n"
            "    else\n"
            "      v := 4\n");
}

TEST(Statements, BranchWithCase) {
  EXPECT_EQ(outline_of_statements("CASE WHEN p = 1 THEN v := 1; WHEN p = 2 THEN v := 2; END CASE;"),
            "if (p = 1)\n"
            "  v := 1\n"
            "else\n"
            "  if (p = 2)\n"
            "    v := 2\n"
            "  else\n"
            "    raise\n");
  EXPECT_THAT(outline_of_statements("CASE p + 1 WHEN 1, 2 THEN v := 1; ELSE v := 2; END CASE;"),
              testing::MatchesRegex("(.*) := \\(p \\+ 1\\)\n"
                                    "if \\(\\(.* = 1\\) or \\(.* = 2\\)\\)\n"
                                    "  v := 1\n"
                                    "else\n"
                                    "  v := 2\n"));
}

TEST(Statements, LoopOverRowsRangesAndArrays) {
  EXPECT_EQ(outline_of_statements("FOR r IN SELECT id AS i, owner FROM account LOOP\n"
                                  "v := r.i; s := r.owner; END LOOP;"),
            "for r.i, r.owner in account #0.id #0.owner\n"
            "  v := r.i\n"
            "  s := r.owner\n");
  EXPECT_EQ(outline_of_statements("FOR v, s IN SELECT id, owner FROM account LOOP NULL; END LOOP;"),
            "for v, s in account #0.id #0.owner\n");
  EXPECT_EQ(outline_of_statements("FOR i IN 1 .. p LOOP v := ps[i]; END LOOP;\n"
                                  "FOR i IN REVERSE p .. 1 BY 2 LOOP v := i; END LOOP;"),
            "for i in 1 .. p\n"
            "  v := ps[i]\n"
            "for i in p .. 1 by 2 down\n"
            "  v := i\n");
  EXPECT_EQ(outline_of_statements("FOREACH v IN ARRAY ps LOOP w := v; END LOOP;"),
            "for v in array ps\n"
            "  w := v\n");
}

TEST(Statements, LeaveLoopsByLabel) {
  EXPECT_EQ(outline_of_statements("<<far>> LOOP\n"
                                  "  WHILE v < 3 LOOP\n"
                                  "    EXIT far WHEN v = 1; CONTINUE far; EXIT; CONTINUE WHEN b;\n"
                                  "  END LOOP;\n"
                                  "END LOOP;"),
            "loop\n"
            "  while (v < 3)\n"
            "    exit 1 if (v = 1)\n"
            "    continue 1\n"
            "    exit 0\n"
            "    continue 0 if b\n");
}

TEST(Statements, AskASubqueryOfWhileInEachRound) {
  EXPECT_EQ(outline_of_statements("WHILE EXISTS (SELECT 1 FROM entry) LOOP v := 1; END LOOP;"),
            "loop\n"
            "  exists entry -> (exists 1)\n"
            "  exit 0 if if((exists 1), false, true)\n"
            "  v := 1\n");
}

TEST(Statements, RaiseAndAssertAbort) {
  EXPECT_EQ(outline_of_statements("RAISE NOTICE 'hm %', v; RAISE EXCEPTION 'no'; ASSERT v > 0;"),
            "raise\n"
            "if (v > 0)\n"
            "else\n"
            "  raise\n");
}

TEST(Statements, AssignElementsOfArrays) {
  EXPECT_EQ(outline_of_statements("a[v + 1] := p; a = ARRAY[1, 2]; a := '{3,4}';"),
            "a[(v + 1)] := p\n"
            "a := array(1, 2)\n"
            "a := array(3, 4)\n");
}

TEST(Statements, SubqueriesComeBefore) {
  EXPECT_EQ(outline_of_statements("v := (SELECT balance FROM account WHERE id = p) + 1;"),
            "select account[(#0.id = p)] #0.balance -> (subquery 1)\n"
            "v := ((subquery 1) + 1)\n");
  EXPECT_EQ(outline_of_statements("UPDATE account SET balance = (SELECT sum(amount) FROM entry)\n"
                                  "WHERE p IN (SELECT account FROM entry WHERE amount > 0);"),
            "exists entry[((#0.amount > 0) and (#0.account = p))] -> (exists 1)\n"
            "select entry sum#0.amount -> (subquery 3)\n"
            "update account[(exists 1)] balance = (subquery 3)\n");
  // Where NULL does not count as false, IN tells it apart.
  EXPECT_EQ(outline_of_statements("UPDATE account SET balance = 1\n"
                                  "WHERE p NOT IN (SELECT account FROM entry);"),
            "exists entry[(#0.account = p)] -> (exists 1)\n"
            "exists entry[(isnull(#0.account) or isnull(p))] -> (exists 2)\n"
            "update account[not if((exists 1), true, if((exists 2), NULL, false))] balance = 1\n");
  EXPECT_EQ(outline_of_statements("v := count(*) FROM account;"),
            "select account countNULL -> (subquery 2)\n"
            "v := (subquery 2)\n");
}

TEST(Statements, SubqueriesLeaveFoundAlone) {
  EXPECT_EQ(outline_of_statements("IF EXISTS (SELECT 1 FROM entry) AND FOUND THEN v := 1; END IF;"),
            "(kept 2) := found\n"
            "exists entry -> (exists 1)\n"
            "found := (kept 2)\n"
            "if ((exists 1) and found)\n"
            "  v := 1\n");
}

TEST(Statements, AskForFoundAndRowCountOnlyWhereUsed) {
  const Application plain = application_of(in_plpgsql("", "BEGIN DELETE FROM entry; END"));
  EXPECT_FALSE(plain.functions[0].found);
  EXPECT_FALSE(plain.functions[0].row_count);
  const Application both = application_of(
      in_plpgsql("",
                 "DECLARE n integer; BEGIN DELETE FROM entry; GET DIAGNOSTICS n = ROW_COUNT;\n"
                 "IF NOT found THEN n := 0; END IF; END"));
  EXPECT_TRUE(both.functions[0].found);
  EXPECT_TRUE(both.functions[0].row_count);
  EXPECT_EQ(Outline(both, both.functions[0]).of(both.functions[0].body),
            "delete entry\n"
            "n := (row count 1)\n"
            "if not found\n"
            "  n := 0\n");
}

TEST(Statements, KnowTheirPlaceTextAndNumber) {
  const Application app = application_of(
      in_plpgsql("p integer",
                 "DECLARE v integer;\nBEGIN\n  SELECT balance -- money\n    INTO v\n    FROM "
                 "account;\n  IF v > p THEN\n    UPDATE account SET balance  =  0;\n  END IF;\n"
                 "  v := v+1;\nEND"));
  const auto& body = app.functions[0].body;
  ASSERT_EQ(body.size(), 3U);
  EXPECT_EQ(body[0].place, (Place{6, 3}));
  EXPECT_EQ(body[0].text, "SELECT balance INTO v FROM account");
  EXPECT_EQ(body[1].place, (Place{9, 3}));
  EXPECT_EQ(body[1].text, "IF v > p");
  EXPECT_EQ(body[1].body()[0].place, (Place{10, 5}));
  EXPECT_EQ(body[1].body()[0].text, "UPDATE account SET balance = 0");
  EXPECT_EQ(body[1].body()[0].number, 2U);
  EXPECT_EQ(body[2].text, "v := v+1");
  EXPECT_EQ(body[2].number, 3U);
  EXPECT_EQ(app.functions[0].num_statements, 4U);
}

}  // namespace
}  // namespace isoscope::sql
