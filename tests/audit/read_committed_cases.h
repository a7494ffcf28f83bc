#pragma once
// Small programs at READ COMMITTED of PostgreSQL, and what audit must say of them.
#include <string>
#include <vector>

namespace isoscope::audit {

struct ReadCommittedCase {
  std::string name;
  std::string schema;
  std::string functions;
  std::string rows;                          // for runs on a server
  std::string verdict;                       // of --prove
  std::vector<std::string> repeatable = {};  // functions at REPEATABLE READ

  friend void PrintTo(const ReadCommittedCase& test, std::ostream* out) { *out << test.name; }
};

// f(p): the body has an integer n.
inline std::string function_of(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "(p integer) RETURNS integer LANGUAGE plpgsql AS $$\nDECLARE n integer;\nBEGIN\n" + body +
         "\nRETURN n;\nEND; $$;\n";
}

inline std::vector<ReadCommittedCase> read_committed_cases() {
  const std::string item = "CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);\n";
  const std::string items = "INSERT INTO item VALUES (1, 1), (2, 2);";
  const std::string take = "IF n > 0 THEN UPDATE item SET stock = n - 1 WHERE id = p; END IF;";
  const std::string look = "SELECT stock INTO n FROM item WHERE id = p";
  const std::string doctors =
      "CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL, ward integer NOT "
      "NULL);\n";
  const std::string wards = "INSERT INTO item VALUES (1, 1, 1), (2, 1, 1);";
  const std::string tag = "CREATE TABLE tag (id integer PRIMARY KEY, v integer NOT NULL);\n";
  const std::string tags = "INSERT INTO tag VALUES (1, 5);";
  const std::string count = "SELECT count(*) INTO n FROM item WHERE ward = 1 AND stock = 1;\n";
  const std::string leave = "IF n > 1 THEN UPDATE item SET stock = 0 WHERE id = p; END IF;";
  const auto before_delete = [](const std::string& body) {
    return "CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n" + body +
           "\nEND; $$;\nCREATE TRIGGER gone BEFORE DELETE ON item FOR EACH ROW EXECUTE FUNCTION "
           "gone();\n";
  };
  return {
      {"LostUpdate", item, function_of("sell", look + ";\n" + take), items, "anomaly"},
      {"ForUpdate", item, function_of("sell", look + " FOR UPDATE;\n" + take), items,
       "serializable"},
      {"ForNoKeyUpdate", item, function_of("sell", look + " FOR NO KEY UPDATE;\n" + take), items,
       "serializable"},
      {"ForShare", item, function_of("sell", look + " FOR SHARE;\n" + take), items, "serializable"},
      {"LateLock", item,
       function_of("sell", look + ";\nPERFORM 1 FROM item WHERE id = p FOR UPDATE;\n" + take),
       items, "anomaly"},
      {"EarlyLock", item,
       function_of("sell", "PERFORM 1 FROM item WHERE id = p FOR UPDATE;\n" + look + ";\n" + take),
       items, "serializable"},
      {"Atomic", item,
       function_of("sell",
                   "UPDATE item SET stock = stock - 1 WHERE id = p RETURNING stock INTO n;"),
       items, "serializable"},
      {"Guarded", item,
       function_of("sell",
                   "UPDATE item SET stock = stock - 1 WHERE id = p AND stock > 0;\nIF FOUND THEN n "
                   ":= 1; END IF;") +
           function_of("fill", "UPDATE item SET stock = stock + 1 WHERE id = p;"),
       items, "serializable"},
      {"GuardOfAnotherRow", item,
       function_of("move",
                   "UPDATE item SET stock = stock - 1 WHERE id = p AND stock > 0;\nIF FOUND THEN "
                   "UPDATE item SET stock = stock + 1 WHERE id = 3 - p; n := 1; END IF;"),
       items, "serializable"},
      {"TwoLooks", item,
       function_of("total",
                   "SELECT stock INTO n FROM item WHERE id = 1;\nn := n + (SELECT stock FROM "
                   "item WHERE id = 2);") +
           function_of("move",
                       "UPDATE item SET stock = stock - 1 WHERE id = 1;\nUPDATE item SET stock = "
                       "stock + 1 WHERE id = 2;"),
       items, "anomaly"},
      {"TwoLooksAtRepeatableRead",
       item,
       function_of("total",
                   "SELECT stock INTO n FROM item WHERE id = 1;\nn := n + (SELECT stock FROM "
                   "item WHERE id = 2);") +
           function_of("move",
                       "UPDATE item SET stock = stock - 1 WHERE id = 1;\nUPDATE item SET stock = "
                       "stock + 1 WHERE id = 2;"),
       items,
       "serializable",
       {"total"}},
      {"OneLook", item,
       function_of("total", "SELECT sum(stock) INTO n FROM item;") +
           function_of("move",
                       "UPDATE item SET stock = stock - 1 WHERE id = 1;\nUPDATE item SET stock = "
                       "stock + 1 WHERE id = 2;"),
       items, "serializable"},
      {"TwoLooksInOneExpression", item,
       function_of(
           "total",
           "n := (SELECT stock FROM item WHERE id = 1) + (SELECT stock FROM item WHERE id = "
           "2);") +
           function_of("move",
                       "UPDATE item SET stock = stock - 1 WHERE id = 1;\nUPDATE item SET stock = "
                       "stock + 1 WHERE id = 2;"),
       items, "serializable"},
      {"WriteSkew", doctors,
       function_of("leave",
                   "SELECT count(*) INTO n FROM item WHERE ward = 1 AND stock = 1;\nIF n > 1 THEN "
                   "UPDATE item SET stock = 0 WHERE id = p; END IF;"),
       wards, "anomaly"},
      {"WriteSkewBehindALock", doctors + tag,
       function_of(
           "leave",
           "PERFORM 1 FROM tag WHERE id = 1 FOR UPDATE;\nSELECT count(*) INTO n FROM item "
           "WHERE ward = 1 AND stock = 1;\nIF n > 1 THEN UPDATE item SET stock = 0 WHERE id "
           "= p; END IF;"),
       wards + tags, "anomaly"},  // the row of the lock need not be there
      {"WriteSkewBehindAnAdvisoryLock", doctors,
       function_of("leave", "PERFORM pg_advisory_xact_lock(7);\n" + count + leave), wards,
       "serializable"},
      {"AdvisoryLockOfTheRow", doctors,
       function_of("leave", "PERFORM pg_advisory_xact_lock(p);\n" + count + leave), wards,
       "anomaly"},
      {"AdvisoryLockOfNull", doctors,
       function_of("leave", "PERFORM pg_advisory_xact_lock(n);\n" + count + leave), wards,
       "anomaly"},
      {"LateAdvisoryLock", doctors,
       function_of("leave", count + "PERFORM pg_advisory_xact_lock(7);\n" + leave), wards,
       "anomaly"},
      {"SharedAdvisoryLock", doctors,
       function_of("leave", "PERFORM pg_advisory_xact_lock_shared(7);\n" + count + leave), wards,
       "anomaly"},
      {"AdvisoryLockAtRepeatableRead",
       doctors,
       function_of("leave", "PERFORM pg_advisory_xact_lock(7);\n" + count + leave),
       wards,
       "anomaly",  // the snapshot may be older than the lock
       {"leave"}},
      {"BeforeDelete",
       item + tag +
           before_delete("UPDATE tag SET v = v + OLD.stock WHERE id = OLD.id;\nRETURN OLD;"),
       function_of("clear", "DELETE FROM item WHERE id = p;\nIF FOUND THEN n := 1; END IF;") +
           function_of("fill", "UPDATE item SET stock = stock + 1 WHERE id = p;"),
       items + tags, "unknown"},  // of two calls, neither ruled out nor shown by a run
      {"BeforeDeleteThatSaves",
       item + tag +
           before_delete("IF EXISTS (SELECT 1 FROM tag WHERE id = OLD.id) THEN RETURN NULL; END "
                         "IF;\nRETURN OLD;"),
       function_of("clear", "DELETE FROM item WHERE id = p;\nIF FOUND THEN n := 1; END IF;") +
           function_of("mark",
                       "SELECT stock INTO n FROM item WHERE id = p;\nIF n > 0 THEN INSERT INTO tag "
                       "VALUES (p, n); END IF;"),
       items, "anomaly"},
      {"SubSelectInUpdate", item,
       function_of("copy",
                   "UPDATE item SET stock = (SELECT stock FROM item WHERE id = 3 - p) WHERE "
                   "id = p;"),
       items, "anomaly"},
      {"CheckThenInsert", tag,
       function_of("add",
                   "IF NOT EXISTS (SELECT 1 FROM tag WHERE v = p) THEN INSERT INTO tag "
                   "VALUES ((SELECT count(*) FROM tag) + 1, p); n := 1; END IF;"),
       "", "anomaly"},
      {"CheckThenInsertByKey", tag,
       function_of("add",
                   "SELECT 1 INTO n FROM tag WHERE id = p;\nIF n IS NULL THEN INSERT INTO tag "
                   "VALUES (p, 1); END IF;"),
       "", "serializable"},
      {"Upsert", tag,
       function_of("add",
                   "INSERT INTO tag VALUES (p, 1) ON CONFLICT (id) DO UPDATE SET v = tag.v + "
                   "1 RETURNING tag.v INTO n;"),
       "", "serializable"},
      {"InsertOrNothing", tag,
       function_of("add",
                   "INSERT INTO tag VALUES (p, 1) ON CONFLICT DO NOTHING;\nUPDATE tag SET v = "
                   "v + 1 WHERE id = p RETURNING v INTO n;"),
       "", "serializable"},
  };
}

}  // namespace isoscope::audit
