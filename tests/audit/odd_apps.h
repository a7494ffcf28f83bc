#pragma once
// Small applications at the edges of what a server's levels keep safe, written by hand to be proved
// wrongly: rows that are sorted by what changes, keys that come back, values that may be NULL,
// triggers, guards, ranges that overlap.
#include <string>
#include <vector>

namespace isoscope::audit {

struct OddApp {
  std::string name;
  std::string functions;
};

inline std::string odd_function(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "(p integer, q integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
         "DECLARE x integer; y integer; r record;\nBEGIN\n" +
         body + "\nRETURN x;\nEND; $$;\n";
}

inline const char* odd_tables() {
  return "CREATE TABLE t (id integer PRIMARY KEY, v integer, g integer NOT NULL);\n"
         "CREATE TABLE u (a integer, b integer, n integer, k integer UNIQUE, "
         "PRIMARY KEY (a, b));\n"
         "CREATE TABLE log (id integer PRIMARY KEY, n integer NOT NULL);\n";
}

inline std::vector<OddApp> odd_apps() {
  const std::string add = odd_function("add", "UPDATE t SET v = v + 1 WHERE id = p;");
  const std::string sum = odd_function("total", "SELECT sum(v) INTO x FROM t;");
  return {
      {"TheFirstByWhatChanges",
       odd_function("take",
                    "SELECT id INTO x FROM t ORDER BY v, id LIMIT 1 FOR UPDATE;\n"
                    "UPDATE t SET v = v + 10 WHERE id = x;")},
      {"TheFirstThatIsFree",
       odd_function("take",
                    "SELECT id INTO x FROM t WHERE v = 0 ORDER BY id LIMIT 1 FOR UPDATE;\n"
                    "UPDATE t SET v = 1 WHERE id = x;")},
      {"SmallestByASubquery",
       odd_function("take",
                    "UPDATE t SET v = 1 WHERE id = (SELECT min(id) FROM t WHERE v = 0) "
                    "RETURNING id INTO x;")},
      {"SmallestGuarded",
       odd_function("take",
                    "UPDATE t SET v = 1 WHERE v = 0 AND id = (SELECT min(id) FROM t WHERE v = 0) "
                    "RETURNING id INTO x;")},
      {"NullIsNoValue",
       odd_function("fill",
                    "UPDATE t SET v = coalesce(v, 0) + 1 WHERE id = p RETURNING v INTO x;") +
           odd_function("clear",
                        "UPDATE t SET v = NULL WHERE id = p AND v > 0;\n"
                        "IF FOUND THEN x := 1; END IF;")},
      {"InsertWhereNotExists",
       odd_function("put",
                    "INSERT INTO log SELECT p, 1 WHERE NOT EXISTS "
                    "(SELECT 1 FROM log WHERE n = 1) ON CONFLICT DO NOTHING;\n"
                    "IF FOUND THEN x := 1; END IF;")},
      {"DeleteAndCount", odd_function("del",
                                      "DELETE FROM t WHERE g = q;\n"
                                      "GET DIAGNOSTICS x = ROW_COUNT;") +
                             add},
      {"RangesThatOverlap", odd_function("low", "UPDATE t SET v = v + 1 WHERE id <= p;") +
                                odd_function("high", "UPDATE t SET v = v * 2 WHERE id >= p;")},
      {"RowsThatMoveBetweenGroups",
       odd_function("move", "UPDATE t SET g = q WHERE g = p;\nGET DIAGNOSTICS x = ROW_COUNT;")},
      {"RowsThatMoveOneByOne", odd_function("move",
                                            "UPDATE t SET g = q WHERE id = p AND g <> q;\n"
                                            "IF FOUND THEN x := 1; END IF;") +
                                   odd_function("pay", "UPDATE t SET v = v + 1 WHERE g = p;")},
      {"CompositeKeys",
       odd_function("put",
                    "INSERT INTO u VALUES (p, q, 1, NULL) ON CONFLICT (a, b) DO UPDATE SET "
                    "n = u.n + 1 RETURNING n INTO x;") +
           odd_function("del", "DELETE FROM u WHERE a = p AND b = q RETURNING n INTO x;")},
      {"UniqueThatIsPassedOn",
       odd_function("pass",
                    "UPDATE u SET k = NULL WHERE a = p AND b = 1 AND k = 7;\n"
                    "IF FOUND THEN UPDATE u SET k = 7 WHERE a = q AND b = 1; x := 1; END IF;")},
      {"UniqueOrNothing",
       odd_function("put",
                    "INSERT INTO u VALUES (p, q, 1, p) ON CONFLICT (k) DO NOTHING;\n"
                    "IF FOUND THEN x := 1; END IF;") +
           odd_function("del", "DELETE FROM u WHERE k = p;\nIF FOUND THEN x := 1; END IF;")},
      {"UpsertThatGuards",
       odd_function("put",
                    "INSERT INTO log VALUES (p, 1) ON CONFLICT (id) DO UPDATE SET n = log.n + "
                    "1 WHERE log.n < 2;\nIF NOT FOUND THEN x := 0; END IF;") +
           odd_function("del",
                        "DELETE FROM log WHERE id = p AND n > 1;\n"
                        "IF FOUND THEN x := 1; END IF;")},
      {"LockThenAnotherRow",
       odd_function("leave",
                    "PERFORM 1 FROM t WHERE id = 1 FOR UPDATE;\n"
                    "SELECT count(*) INTO x FROM t WHERE v = 1;\n"
                    "IF x > 1 THEN UPDATE t SET v = 0 WHERE id = p; END IF;")},
      {"LockAllThenLook", odd_function("leave",
                                       "PERFORM 1 FROM t WHERE v = 1 FOR UPDATE;\n"
                                       "SELECT count(*) INTO x FROM t WHERE v = 1;\n"
                                       "IF x > 1 THEN UPDATE t SET v = 0 WHERE id = p; END IF;")},
      {"LockInALoop",
       odd_function("drain",
                    "x := 0;\nFOR r IN SELECT id, v FROM t WHERE g = q ORDER BY id FOR UPDATE "
                    "LOOP x := x + coalesce(r.v, 0); UPDATE t SET v = 0 WHERE id = r.id; "
                    "END LOOP;") +
           add},
      {"AdvisoryOfTwo",
       odd_function("one",
                    "PERFORM pg_advisory_xact_lock(1);\n"
                    "SELECT count(*) INTO x FROM log;\nINSERT INTO log VALUES (p, x);") +
           odd_function("two",
                        "PERFORM pg_advisory_xact_lock(2);\n"
                        "SELECT count(*) INTO x FROM log;\nINSERT INTO log VALUES (p, x);")},
      {"AdvisoryInACondition",
       odd_function("one",
                    "IF p > 0 THEN PERFORM pg_advisory_xact_lock(1); END IF;\n"
                    "SELECT count(*) INTO x FROM log;\nINSERT INTO log VALUES (p, x);")},
      {"ShareThenUpdate", odd_function("move",
                                       "SELECT v INTO x FROM t WHERE id = p FOR SHARE;\n"
                                       "UPDATE t SET v = x + 1 WHERE id = q;")},
      {"KeyShareThenUpdate", odd_function("move",
                                          "SELECT v INTO x FROM t WHERE id = p FOR KEY SHARE;\n"
                                          "UPDATE t SET v = x + 1 WHERE id = p;")},
      {"DeletedAndPutBack",
       odd_function("put",
                    "INSERT INTO log VALUES (p, q) ON CONFLICT DO NOTHING;\n"
                    "UPDATE log SET n = n + 1 WHERE id = p RETURNING n INTO x;") +
           odd_function("del", "DELETE FROM log WHERE id = p RETURNING n INTO x;")},
      {"SeenTwice", odd_function("look",
                                 "SELECT v INTO x FROM t WHERE id = p FOR NO KEY UPDATE;\n"
                                 "SELECT sum(v) INTO y FROM t WHERE id = p;\nx := x - y;") +
                        add + sum},
  };
}

}  // namespace isoscope::audit
