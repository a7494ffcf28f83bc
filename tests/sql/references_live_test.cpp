// What foreign keys do ON UPDATE, held against PostgreSQL.
#include <array>

#include "bodies_live.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kReferenceSchema = R"(
CREATE TABLE pa (id int PRIMARY KEY, u int UNIQUE, v int NOT NULL DEFAULT 0);
CREATE TABLE c (id int PRIMARY KEY, u int REFERENCES pa (u) ON UPDATE CASCADE ON DELETE SET NULL, v int NOT NULL);
CREATE TABLE n (id int PRIMARY KEY, u int REFERENCES pa (u) ON UPDATE SET NULL ON DELETE SET NULL, w int DEFAULT 3 REFERENCES pa (u) ON UPDATE SET DEFAULT ON DELETE CASCADE);
CREATE TABLE o (id int PRIMARY KEY, v int NOT NULL);
CREATE TABLE l (o int REFERENCES o ON UPDATE CASCADE ON DELETE CASCADE, no int, v int NOT NULL, PRIMARY KEY (o, no));
CREATE TABLE m (id int PRIMARY KEY, o int, no int, FOREIGN KEY (o, no) REFERENCES l ON UPDATE CASCADE ON DELETE SET NULL (no));
CREATE TABLE k (id int PRIMARY KEY, a int, b int, UNIQUE (a, b));
CREATE TABLE kc (id int PRIMARY KEY, a int DEFAULT 1, b int DEFAULT 2, FOREIGN KEY (a, b) REFERENCES k (a, b) ON UPDATE SET DEFAULT);
CREATE TABLE kn (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES k (a, b) ON UPDATE SET NULL ON DELETE SET NULL (b));
CREATE TABLE q (id int PRIMARY KEY, u int NOT NULL UNIQUE, v int NOT NULL, g int GENERATED ALWAYS AS (v * 2) STORED UNIQUE);
CREATE TABLE qc (id int PRIMARY KEY, u int REFERENCES q (u) ON UPDATE CASCADE, g int REFERENCES q (g) ON UPDATE CASCADE, t int NOT NULL DEFAULT 0);
CREATE TABLE r2 (id int PRIMARY KEY, u int UNIQUE);
CREATE TABLE r2c (id int PRIMARY KEY, u int REFERENCES r2 (u) ON UPDATE RESTRICT, x int REFERENCES pa (u));
CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree ON DELETE SET NULL ON UPDATE CASCADE, v int NOT NULL);
CREATE TABLE log (who int, no int, x int, PRIMARY KEY (who, no));
INSERT INTO pa VALUES (1, 1), (2, 2), (3, 3), (4, NULL);
INSERT INTO c VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7), (4, NULL, 8);
INSERT INTO n VALUES (1, 1, 2), (2, 2, 1), (3, 3, NULL);
INSERT INTO o VALUES (1, 1), (2, 2);
INSERT INTO l VALUES (1, 1, 5), (1, 2, 6), (2, 1, 7);
INSERT INTO m VALUES (1, 1, 1), (2, 2, 1), (3, 1, NULL);
INSERT INTO k VALUES (1, 1, 1), (2, 1, 2), (3, 2, NULL);
INSERT INTO kc VALUES (1, 1, 1), (2, 2, NULL);
INSERT INTO kn VALUES (1, 1, 1), (2, 1, 2), (3, 2, NULL);
INSERT INTO q (id, u, v) VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO qc VALUES (1, 1, 2), (2, 2, 2), (3, NULL, 4);
INSERT INTO r2 VALUES (1, 1), (2, 2);
INSERT INTO r2c VALUES (1, 1, NULL);
INSERT INTO tree VALUES (1, NULL, 1), (2, 1, 2), (3, 1, 3), (4, 3, 4), (5, 5, 5);
CREATE VIEW pv AS SELECT id, u AS uu FROM pa;
CREATE FUNCTION on_q() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.v > 5 THEN NEW.u := NEW.v; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER q_before BEFORE UPDATE ON q FOR EACH ROW EXECUTE FUNCTION on_q();
CREATE FUNCTION on_qc() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.t := OLD.t + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER qc_before BEFORE UPDATE ON qc FOR EACH ROW EXECUTE FUNCTION on_qc();
CREATE FUNCTION after_qc() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (90 + NEW.id, NEW.t, coalesce(NEW.u, -1) * 100 + coalesce(OLD.u, -1));
  RETURN NULL;
END $$;
CREATE TRIGGER qc_after AFTER UPDATE OF u ON qc FOR EACH ROW EXECUTE FUNCTION after_qc();
CREATE FUNCTION after_o() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (80, NEW.id, OLD.id);
  RETURN NULL;
END $$;
CREATE TRIGGER o_after AFTER UPDATE ON o FOR EACH ROW EXECUTE FUNCTION after_o();
)";
constexpr std::array kReferenceBodies = {
    "UPDATE pa SET u = 10 + p WHERE id = 1;",
    "UPDATE pa SET u = u WHERE id = 1;",
    "UPDATE pa SET u = u - 1 WHERE u < 3;",
    "UPDATE pa SET u = u + 1;",
    "UPDATE pa SET u = NULL WHERE u = 2;",
    "UPDATE pa SET u = 20 + p WHERE u IS NULL OR v > 0;",
    "UPDATE pa SET u = u * 10, v = v + 1 WHERE u < 3; IF FOUND THEN INSERT INTO log VALUES (p, 1, "
    "1); END IF;",
    "UPDATE pa SET u = 30 WHERE u = 3; GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO log VALUES (p, "
    "1, "
    "x);",
    "UPDATE pa SET v = v + 1 WHERE id = 1;",
    "UPDATE pv SET uu = 40 + p WHERE id = 2;",
    "UPDATE pa SET u = pa.u + c.v FROM c WHERE c.u = pa.u AND c.id > 1;",
    "BEGIN UPDATE pa SET u = 60 WHERE id = 3; EXCEPTION WHEN foreign_key_violation THEN "
    "INSERT INTO log VALUES (p, 1, 23503); END;",
    "UPDATE pa SET u = 50 + p WHERE id = 1; DELETE FROM pa WHERE id = 1;",
    "DELETE FROM pa WHERE id = 1; UPDATE pa SET u = 1 WHERE id = 2;",
    "INSERT INTO c VALUES (10 + p, 1, 1);",
    "INSERT INTO n VALUES (10 + p, 2, 1);",
    "UPDATE c SET u = 3 - u, v = v + 1 WHERE id = 1;",
    "DELETE FROM c WHERE id = 1;",
    "UPDATE c SET v = v + 1 WHERE u = 1;",
    "INSERT INTO pa VALUES (1, 9) ON CONFLICT (id) DO UPDATE SET v = pa.v + 1;",
    "INSERT INTO r2c VALUES (10 + p, 2, 1);",
    "SELECT u INTO x FROM pa WHERE id = 1 FOR KEY SHARE; INSERT INTO log VALUES (p, 1, x);",
    "INSERT INTO log SELECT p, id, coalesce(u, -1) FROM c;",
    // A primary key, through two tables.
    "UPDATE o SET id = 10 + p WHERE id = 1;",
    "UPDATE o SET id = id - 1; INSERT INTO log SELECT p, id, o FROM m;",
    "UPDATE l SET no = no + 5 WHERE o = 1;",
    "INSERT INTO l VALUES (1, 10 + p, 1);",
    "INSERT INTO m VALUES (10 + p, 1, 2);",
    "DELETE FROM o WHERE id = 1;",
    "DELETE FROM l WHERE o = 1 AND no = 1;",
    "UPDATE m SET no = 2 WHERE id = 1;",
    "UPDATE o SET id = 9, v = 3 WHERE id = 2; DELETE FROM o WHERE id = 9;",
    // Several columns.
    "UPDATE k SET a = 5 WHERE id = 1;",
    "UPDATE k SET b = b + 5 WHERE id <> 2;",
    "UPDATE k SET a = 7 WHERE id = 2;",
    "UPDATE k SET b = NULL WHERE id = 1;",
    "UPDATE k SET b = 4 WHERE id = 3;",
    "INSERT INTO kc VALUES (10 + p, 1, 1);",
    "UPDATE kc SET b = 2 WHERE id = 1;",
    "UPDATE k SET b = b - 1 WHERE a = 1 AND b < 2;",
    // Triggers that change the key, or run behind.
    "UPDATE q SET v = v + 6 WHERE id = 1;",
    "UPDATE q SET v = v + 1 WHERE id = 2;",
    "UPDATE q SET u = u + 10;",
    "INSERT INTO qc VALUES (10 + p, 1, 2);",
    "UPDATE qc SET u = 2 WHERE id = 1;",
    "UPDATE r2 SET u = u - 1;",
    "UPDATE r2 SET u = 5 WHERE id = 2;",
    // A table that refers to itself.
    "DELETE FROM tree WHERE id = 1;",
    "DELETE FROM tree WHERE id > 2; GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO log VALUES (p, 1, "
    "x);",
    "DELETE FROM tree WHERE id = 3 OR id = 5;",
    "UPDATE tree SET id = 10 + p WHERE id = 1;",
    "UPDATE tree SET id = id + 10;",
    "UPDATE tree SET id = 20 + p WHERE id = 3; DELETE FROM tree WHERE id = 1;",
    "INSERT INTO tree VALUES (30 + p, 1, 1);",
    "UPDATE tree SET up = 1 WHERE id = 4;",
    "UPDATE tree SET v = v + 1 WHERE up = 1;",
    "DELETE FROM tree;",
};
constexpr std::size_t kNumOfTree = 10;

class ReferencesLive : public BodiesLive {
 protected:
  ReferencesLive() : BodiesLive({kReferenceSchema, kReferenceBodies}) {}
};

TEST_P(ReferencesLive, EachAloneDoesWhatTheServerDoes) { compare_each(); }

// Bodies that meet each other: the table and its children, then the deep ones, then the others.
TEST_P(ReferencesLive, PairsOfOneKeyEndAsExploreSays) { compare_pairs(0, 23, 41, 25); }
TEST_P(ReferencesLive, PairsOfDeepKeysEndAsExploreSays) { compare_pairs(23, 9, 43, 15); }
TEST_P(ReferencesLive, PairsOfOtherKeysEndAsExploreSays) {
  compare_pairs(32, kReferenceBodies.size() - 32 - kNumOfTree, 47, 15);
}
TEST_P(ReferencesLive, PairsOfATreeEndAsExploreSays) {
  compare_pairs(kReferenceBodies.size() - kNumOfTree, kNumOfTree, 59, 15);
}

INSTANTIATE_TEST_SUITE_P(Levels, ReferencesLive, kBothLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
