// Hard inputs of audit, and of explore and run on SQL programs.
#include <fmt/format.h>

#include "limits/hard_inputs.h"

namespace isoscope {
namespace {

std::string table(std::string_view name, int num_columns = 1) {
  std::string columns;
  for (int c = 0; c < num_columns; ++c) columns += fmt::format(", c{} INT", c);
  return fmt::format("CREATE TABLE {} (id INT PRIMARY KEY{});\n", name, columns);
}

std::string function(std::string_view name, std::string_view body, std::string_view declared = "") {
  return fmt::format(
      "CREATE FUNCTION {}(k INT) RETURNS void LANGUAGE plpgsql AS $$ DECLARE {} BEGIN\n{}END $$;\n",
      name, declared, body);
}

// --- reading
// ---------------------------------------------------------------------------------------

std::string many_small_functions(int count) {
  std::string text = table("t");
  for (int i = 0; i < count; ++i)
    text += function(fmt::format("f{}", i), "UPDATE t SET c0=1 WHERE id=k;");
  return text + "-- session s: f1(1)\n";
}

std::string many_small_tables(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += table(fmt::format("t{}", i));
  return text + function("f", "UPDATE t1 SET c0 = 1 WHERE id = k;");
}

std::string one_long_function(int count) {
  std::string body;
  for (int i = 0; i < count; ++i) body += "y := y * 2 + 1;\n";
  return table("t") + function("f", body + "UPDATE t SET c0 = y WHERE id = k;", "y INT;");
}

// --- audit ---------------------------------------------------------------------------------------

// Each statement asks what the ones before it left.
std::string branches_in_a_row(int count) {
  std::string body;
  for (int i = 0; i < count; ++i) {
    body += fmt::format(
        "SELECT c0 INTO x FROM t WHERE c0 > {0} LIMIT 1;\n"
        "IF x > {0} THEN UPDATE t SET c0 = c0 + {0} WHERE c0 > k;\n"
        "ELSE DELETE FROM t WHERE c0 = k + {0}; END IF;\n",
        i);
  }
  return table("t") + function("f", body, "x INT;");
}

std::string many_functions() {
  std::string text = table("t", 4);
  for (int i = 0; i < 40; ++i) {
    text +=
        function(fmt::format("f{}", i),
                 fmt::format("UPDATE t SET c{} = c{} + {} WHERE id = k;\n", i % 4, (i + 1) % 4, i));
  }
  return text;
}

// Each reads what the one before it writes, and looks at rows of every kind.
std::string ring_of_functions() {
  constexpr int kFunctions = 40;
  std::string text = table("t", kFunctions);
  for (int i = 0; i < kFunctions; ++i) {
    text +=
        function(fmt::format("f{}", i),
                 fmt::format("SELECT sum(c{}) INTO v FROM t WHERE c{} > k;\n"
                             "UPDATE t SET c{} = v + 1 WHERE c{} = k;\n",
                             i, (i + 7) % kFunctions, (i + 1) % kFunctions, (i + 3) % kFunctions),
                 "v INT;");
  }
  return text;
}

std::string many_tables() {
  std::string text;
  std::string changes;
  std::string inserts;
  for (int i = 0; i < 60; ++i) {
    text += table(fmt::format("t{}", i));
    changes += fmt::format(
        "UPDATE t{0} SET c0 = c0 + 1 WHERE c0 > k;\nDELETE FROM t{0} WHERE c0 < k;\n", i);
    inserts += fmt::format("INSERT INTO t{} VALUES (k, {});\n", i, i);
  }
  return text + function("f", changes) + function("g", inserts);
}

std::string many_columns() {
  constexpr int kColumns = 300;
  std::string sets;
  for (int c = 0; c < kColumns; ++c)
    sets += fmt::format("{}c{} = c{} + 1", c == 0 ? "" : ", ", c, (c + 1) % kColumns);
  return table("t", kColumns) +
         function("f",
                  fmt::format("UPDATE t SET {0} WHERE c1 > k;\nUPDATE t SET {0} WHERE c2 > k;\n",
                              sets)) +
         function("g",
                  "FOR r IN SELECT * FROM t WHERE c7 > k LOOP\n"
                  "  UPDATE t SET c1 = r.c2 WHERE c3 = r.c4; END LOOP;\n",
                  "r record;");
}

std::string many_statements(std::string_view where) {
  std::string body;
  for (int i = 0; i < 300; ++i)
    body += fmt::format("UPDATE t SET c0 = c0 + {0} WHERE {1} + {0};\n", i, where);
  return table("t") + function("f", body);
}

std::string deep_branches(int depth) {
  if (depth == 0) return "UPDATE t SET c0 = c0 + 1 WHERE c0 > k;\n";
  return fmt::format(
      "SELECT c0 INTO x FROM t WHERE c0 > {0}; IF x > {0} THEN\n{1}ELSE\n{1}END IF;\n", depth,
      deep_branches(depth - 1));
}

std::string deep_loops(int depth) {
  if (depth == 0) return "UPDATE t SET c0 = c0 + 1 WHERE c0 > k;\n";
  return fmt::format(
      "FOR r{0} IN SELECT id, c0 FROM t WHERE c0 > {0} LOOP\n{1}"
      "UPDATE t SET c0 = r{0}.c0 WHERE id = r{0}.id; END LOOP;\n",
      depth, deep_loops(depth - 1));
}

std::string records(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += fmt::format("r{} record; ", i);
  return text;
}

std::string many_foreign_keys() {
  constexpr int kTables = 30;
  std::string text = table("t0");
  std::string deletes;
  std::string scans;
  std::string inserts = "INSERT INTO t0 VALUES (k, k);\n";
  for (int i = 1; i < kTables; ++i) {
    std::string columns;
    std::string values = "k";
    for (int j = 0; j < i; ++j) {
      columns += fmt::format(", r{0} INT REFERENCES t{0} (id)", j);
      values += ", k";
    }
    text += fmt::format("CREATE TABLE t{} (id INT PRIMARY KEY{});\n", i, columns);
    inserts += fmt::format("INSERT INTO t{} VALUES ({});\n", i, values);
    deletes += fmt::format("DELETE FROM t{} WHERE id = k;\n", kTables - i);
    scans += fmt::format("DELETE FROM t{} WHERE id > k;\n", kTables - i);
  }
  return text + function("f", deletes) + function("g", scans) + function("h", inserts);
}

std::string many_constraints() {
  constexpr int kColumns = 40;
  std::string columns;
  std::string values = "k";
  std::string sets;
  for (int c = 0; c < kColumns; ++c) {
    columns += fmt::format(", c{0} INT UNIQUE CHECK (c{0} > {0})", c);
    values += fmt::format(", k + {}", c);
    sets += fmt::format("{0}c{1} = c{1} + 1", c == 0 ? "" : ", ", c);
  }
  return fmt::format("CREATE TABLE t (id INT PRIMARY KEY{});\n", columns) +
         function("f", fmt::format("INSERT INTO t VALUES ({});\n", values)) +
         function("g", fmt::format("UPDATE t SET {} WHERE id = k;\n", sets)) +
         function("h", "DELETE FROM t WHERE c3 > k;\n");
}

// --- explore and run -----------------------------------------------------------------------------

std::string rows(std::string_view name, int count) {
  std::string values;
  for (int i = 0; i < count; ++i) values += fmt::format("{}({}, 0)", i == 0 ? "" : ", ", i);
  return fmt::format("INSERT INTO {} VALUES {};\n", name, values);
}

std::string many_rows(int count) {
  return table("t") + function("f", "UPDATE t SET c0 = 1 WHERE id = k;") + rows("t", count) +
         "-- session s: f(1)\n";
}

// Every read is answered by running the call again up to it.
std::string long_loop() {
  return table("t") +
         function("f",
                  "FOR i IN 1..40000 LOOP SELECT c0 INTO x FROM t WHERE id = i;\n"
                  "  UPDATE t SET c0 = k WHERE id = i; END LOOP;\n",
                  "x INT;") +
         rows("t", 40000) + "-- session a: f(1)\n-- session b: f(2)\n";
}

std::string long_table() {
  return table("t") +
         function("f", "SELECT sum(c0) INTO x FROM t;\nUPDATE t SET c0 = x WHERE id = k;\n",
                  "x INT;") +
         rows("t", 30000) + "-- session a: f(1)\n-- session b: f(2)\n";
}

// No read is left to stop at: the rows are fixed, and looked at again and again.
std::string long_join() {
  return table("t") + table("u") +
         function(
             "f",
             "FOR i IN 1..1000 LOOP SELECT count(*) INTO x FROM t a, t b WHERE a.c0 < b.c0 - i;\n"
             "  END LOOP; UPDATE u SET c0 = x WHERE id = k;\n",
             "x INT;") +
         rows("t", 1400) + rows("u", 2) + "-- session a: f(0)\n-- session b: f(1)\n";
}

std::string many_calls() {
  std::string text =
      table("t", 1) +
      function("f",
               "SELECT c0 INTO x FROM t WHERE id = k; UPDATE t SET c0 = x + 1 WHERE id = 1 - k;\n",
               "x INT;") +
      rows("t", 2);
  for (int s = 0; s < 5; ++s) text += fmt::format("-- session s{}: f(0); f(1); f(0); f(1)\n", s);
  return text;
}

// Every round of the analysis finds rows that the one before did not know.
std::string more_rows_every_round() {
  std::string text =
      table("t") +
      function("f",
               "SELECT max(id) INTO x FROM t;\n"
               "FOR i IN 1..300 LOOP INSERT INTO t VALUES (x + i * k, k); END LOOP;\n",
               "x INT;") +
      rows("t", 2);
  for (int s = 0; s < 12; ++s) text += fmt::format("-- session s{0}: f({0}7)\n", s);
  return text;
}

}  // namespace

std::vector<HardInput> sql_inputs() {
  const auto row = [](std::string name, std::function<std::string()> text, std::string arguments,
                      int exit_code = 3, std::string says = "unknown") {
    return HardInput{.name = std::move(name),
                     .files = {{".sql", std::move(text)}},
                     .arguments = std::move(arguments),
                     .exit_code = exit_code,
                     .says = std::move(says)};
  };
  return {
      row(
          "AuditReadsFunctions", [] { return many_small_functions(30'000); },
          "audit {0} --level si"),
      row(
          "AuditReadsStatements", [] { return one_long_function(100'000); },
          "audit {0} --level si"),
      row(
          "AuditReadsTables", [] { return many_small_tables(80'000); }, "audit {0} --level si"),
      row(
          "AuditBranchesInARow", [] { return branches_in_a_row(40); }, "audit {0} --level si"),
      row("AuditManyFunctions", many_functions, "audit {0} --level si --conflicts column"),
      row("AuditLongCycles", ring_of_functions,
          "audit {0} --level si --conflicts column --cycle 8 --all"),
      row("AuditProof", ring_of_functions, "audit {0} --level si --conflicts column --prove"),
      row("AuditPath", ring_of_functions, "audit {0} --level si --conflicts column --path 8"),
      row("AuditAdvice", ring_of_functions, "audit {0} --level si --conflicts column --advise"),
      row("AuditManyTables", many_tables, "audit {0} --level si"),
      row("AuditManyColumns", many_columns, "audit {0} --level si --conflicts row"),
      row(
          "AuditManyScans", [] { return many_statements("c0 > k"); }, "audit {0} --level si"),
      row(
          "AuditManyStatements", [] { return many_statements("id = k"); }, "audit {0} --level si"),
      row(
          "AuditDeepBranches",
          [] { return table("t") + function("f", deep_branches(8), "x INT;"); },
          "audit {0} --level si"),
      row(
          "AuditDeepLoops", [] { return table("t") + function("f", deep_loops(8), records(8)); },
          "audit {0} --level si"),
      row("AuditManyForeignKeys", many_foreign_keys, "audit {0} --level si --initial any"),
      row("AuditManyConstraints", many_constraints, "audit {0} --level si --prove"),
      row(
          "ExploreSqlReadsFunctions", [] { return many_small_functions(30'000); },
          "explore {0} --level cc"),
      row("ExploreSqlLongLoop", long_loop, "explore {0} --level cc"),
      row("ExploreSqlLongTable", long_table, "explore {0} --level cc"),
      row("ExploreSqlLongJoin", long_join, "explore {0} --level cc"),
      row("ExploreSqlManyCalls", many_calls, "explore {0} --level cc"),
      row("ExploreSqlOutcomes", many_calls, "explore {0} --level ser --outcomes"),
      row("ExploreSqlMoreRowsEveryRound", more_rows_every_round, "explore {0} --level rc"),
      row(
          "RunSqlReadsRows", [] { return many_rows(200'000); }, "run {0} --store serial"),
      row("RunSqlLongLoop", long_loop, "run {0} --store serial"),
      row("RunSqlLongLoopWeak", long_loop, "run {0} --store weak --level cc"),
      row("RunSqlLongTable", long_table, "run {0} --store weak --level si"),
      row("RunSqlLongJoin", long_join, "run {0} --store serial"),
      // All that is missing are further runs: those that went wrong stay found.
      row("RunSqlManyTimes", many_calls, "run {0} --store weak --level cc --runs 100000000", 1,
          "violated"),
  };
}

}  // namespace isoscope
