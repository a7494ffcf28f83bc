// AFTER triggers FOR EACH STATEMENT, held against PostgreSQL.
#include <array>

#include "bodies_live.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kStatementTriggerSchema = R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, u int UNIQUE);
CREATE TABLE s (id int PRIMARY KEY, n int NOT NULL, times int NOT NULL DEFAULT 0);
CREATE TABLE w (id int PRIMARY KEY, t int REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE log (who int, no int, x int, PRIMARY KEY (who, no));
INSERT INTO t VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3);
INSERT INTO s VALUES (1, 60), (2, 0);
INSERT INTO w VALUES (1, 1), (2, 1), (3, 2);
CREATE FUNCTION sum_t() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE total int;
BEGIN
  SELECT coalesce(sum(v), 0) INTO total FROM t;
  IF total > 500 THEN RAISE EXCEPTION 'too much'; END IF;
  UPDATE s SET n = total, times = times + 1 WHERE id = 1;
  RETURN NULL;
END $$;
CREATE TRIGGER sum_t AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH STATEMENT EXECUTE FUNCTION sum_t();
CREATE FUNCTION op_t() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    UPDATE s SET n = n + (SELECT times FROM s WHERE id = 1) WHERE id = 2;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE s SET times = times + (SELECT count(*) FROM w) WHERE id = 2;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER a_op AFTER UPDATE OF u OR DELETE ON t EXECUTE FUNCTION op_t();
CREATE FUNCTION row_t() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE s SET n = n + NEW.v - OLD.v WHERE id = 2;
  RETURN NULL;
END $$;
CREATE TRIGGER z_row AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION row_t();
)";
constexpr std::array kStatementTriggerBodies = {
    "UPDATE t SET v = v + 1 WHERE id = 1;",
    "UPDATE t SET v = v + 1 WHERE id = 9; IF NOT FOUND THEN INSERT INTO log VALUES (p, 1, 1); END "
    "IF;",
    "UPDATE t SET v = v + 3, u = u + 10; GET DIAGNOSTICS x = ROW_COUNT; INSERT INTO log VALUES (p, "
    "1, x);",
    "UPDATE t SET v = v * 20;",
    "UPDATE t SET u = NULL WHERE v > 15;",
    "INSERT INTO t VALUES (10 + p, 5, 10 + p), (20 + p, 6, 20 + p);",
    "INSERT INTO t SELECT 30 + id, n, NULL FROM s WHERE n > 100;",
    "DELETE FROM t WHERE id = 1; IF FOUND THEN INSERT INTO log VALUES (p, 1, 1); END IF;",
    "DELETE FROM t WHERE v > 1000;",
    "DELETE FROM t WHERE id = 2 RETURNING v INTO x; INSERT INTO log VALUES (p, 1, coalesce(x, "
    "-1));",
    "UPDATE t SET v = t.v + w.id FROM w WHERE w.t = t.id AND w.id > 1;",
    "UPDATE t SET id = 9 WHERE id = 1;",
    "UPDATE s SET n = n + 1 WHERE id = 1;",
    "SELECT n INTO x FROM s WHERE id = 1 FOR UPDATE; UPDATE t SET v = x WHERE id = 3;",
    "INSERT INTO w VALUES (10 + p, 1);",
    "INSERT INTO log SELECT p, id, n FROM s;",
    "BEGIN UPDATE t SET v = v + 300 WHERE id < 3; EXCEPTION WHEN OTHERS THEN INSERT INTO log "
    "VALUES "
    "(p, 1, -1); END;",
    "UPDATE t SET v = (SELECT count(*) FROM w WHERE w.t = t.id) WHERE id <= 2;",
};

class StatementTriggersLive : public BodiesLive {
 protected:
  StatementTriggersLive() : BodiesLive({kStatementTriggerSchema, kStatementTriggerBodies}) {}
};

TEST_P(StatementTriggersLive, EachAloneDoesWhatTheServerDoes) { compare_each(); }

TEST_P(StatementTriggersLive, PairsEndAsExploreSays) {
  compare_pairs(0, kStatementTriggerBodies.size(), 53, 20);
}

INSTANTIATE_TEST_SUITE_P(Levels, StatementTriggersLive, kBothLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
