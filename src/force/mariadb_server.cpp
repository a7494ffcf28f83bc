// MariaDB, by the part of libmariadb that does not block.
#include <fmt/format.h>
#include <mysql.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "force/last_will.h"
#include "force/server.h"
#include "sql/server/level.h"

namespace isoscope::force {
namespace {

struct MyClose {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
using MyConnection = std::unique_ptr<MYSQL, MyClose>;

struct MyAddress {
  std::string user = "root";
  std::string password = {};
  std::string host = "127.0.0.1";
  unsigned port = 3306;
};

// mariadb://user:password@host:port
Result<MyAddress> read_address(const std::string& dsn) {
  MyAddress address;
  std::string rest = dsn.substr(dsn.find("://") + 3);
  if (const std::size_t slash = rest.find('/'); slash != std::string::npos) rest.resize(slash);
  if (const std::size_t at = rest.rfind('@'); at != std::string::npos) {
    address.user = rest.substr(0, at);
    rest.erase(0, at + 1);
    if (const std::size_t colon = address.user.find(':'); colon != std::string::npos) {
      address.password = address.user.substr(colon + 1);
      address.user.resize(colon);
    }
  }
  if (const std::size_t colon = rest.rfind(':'); colon != std::string::npos) {
    const char* end = rest.data() + rest.size();
    const auto [stop, failure] = std::from_chars(rest.data() + colon + 1, end, address.port);
    if (failure != std::errc() || stop != end || address.port > 65535)
      return Error{.what = "the port of --dsn is no number",
                   .hint = "write mariadb://user@127.0.0.1:3306"};
    rest.resize(colon);
  }
  if (!rest.empty()) address.host = rest;
  return address;
}

Result<MyConnection> my_connect(const MyAddress& address) {
  MyConnection made(mysql_init(nullptr));
  mysql_options(made.get(), MYSQL_OPT_NONBLOCK, nullptr);
  const unsigned tcp = MYSQL_PROTOCOL_TCP;
  mysql_options(made.get(), MYSQL_OPT_PROTOCOL, &tcp);
  if (mysql_real_connect(made.get(), address.host.c_str(), address.user.c_str(),
                         address.password.c_str(), nullptr, address.port, nullptr, 0) == nullptr)
    return Error{.what = fmt::format("cannot connect to the server: {}", mysql_error(made.get())),
                 .hint = "write --dsn mariadb://user@127.0.0.1:3306"};
  return made;
}

// The answer to a statement that has ended.
Answer my_answer(MYSQL* connection, int failed) {
  Answer answer;
  MYSQL_RES* result = failed == 0 ? mysql_store_result(connection) : nullptr;
  // A query may also fail when its columns are known and its rows are fetched: a deadlock.
  if (failed != 0 || (result == nullptr && mysql_field_count(connection) > 0)) {
    // The SQLSTATE of most errors of InnoDB is HY000; their number says more.
    answer.error = fmt::format("{}", mysql_errno(connection));
    answer.message = mysql_error(connection);
    answer.severity = "ERROR";
  } else if (result != nullptr) {
    Table table;
    const unsigned columns = mysql_num_fields(result);
    const MYSQL_FIELD* fields = mysql_fetch_fields(result);
    for (unsigned j = 0; j < columns; ++j) table.columns.emplace_back(fields[j].name);
    while (MYSQL_ROW values = mysql_fetch_row(result)) {
      const unsigned long* lengths = mysql_fetch_lengths(result);
      Row row;
      for (unsigned j = 0; j < columns; ++j) {
        if (values[j] == nullptr) {
          row.emplace_back();
        } else {
          row.emplace_back(std::string(values[j], lengths[j]));
        }
      }
      table.rows.push_back(std::move(row));
    }
    mysql_free_result(result);
    answer.tables.push_back(std::move(table));
    answer.affected = answer.tables[0].rows.size();
  } else {
    answer.affected = mysql_affected_rows(connection);
  }
  unsigned status = 0;
  mariadb_get_infov(connection, MARIADB_CONNECTION_SERVER_STATUS, &status);
  answer.is_in_txn = (status & SERVER_STATUS_IN_TRANS) != 0;
  return answer;
}

Answer my_run(MYSQL* connection, const std::string& sql) {
  return my_answer(connection, mysql_real_query(connection, sql.data(), sql.size()));
}

class MySessions final : public Sessions {
 public:
  struct Actor {
    std::string name;
    Script script;
    MyConnection connection = {};
    CleanupIfKilled if_killed = {};
    std::optional<std::string> next = {};
    bool is_busy = false;
    int waiting_for = 0;  // what the library waits for at the socket
    ById<StatementId, std::string> sent = {};
    Answers answers = {};
  };

  MySessions(std::string dsn, MyAddress address, MyConnection monitor)
      : dsn_(std::move(dsn)), address_(std::move(address)), monitor_(std::move(monitor)) {}
  ~MySessions() override {
    // A statement that waits would keep its connection and its locks.
    for (const Actor& a : actors_)
      if (a.is_busy)
        my_run(monitor_.get(), fmt::format("KILL {}", mysql_thread_id(a.connection.get())));
  }

  Result<void> add(ActorScript actor) {
    auto connection = my_connect(address_);
    if (!connection) return connection.error();
    for (const std::string& sql : actor.setup) {
      const Answer answer = my_run(connection->get(), sql);
      if (answer.has_failed()) return Error{.what = answer.message, .hint = sql};
    }
    auto next = actor.script(nullptr);
    CleanupIfKilled if_killed =
        CleanupIfKilled::of_sql(dsn_, fmt::format("KILL {}", mysql_thread_id(connection->get())));
    actors_.push_back({.name = actor.name,
                       .script = std::move(actor.script),
                       .connection = std::move(*connection),
                       .if_killed = std::move(if_killed),
                       .next = std::move(next)});
    return {};
  }

  std::size_t size() const override { return actors_.size(); }
  ActorState state(ActorId actor) const override {
    const Actor& a = actors_[actor];
    if (a.is_busy) return ActorState::Busy;
    return a.next ? ActorState::Ready : ActorState::Done;
  }

  Result<void> release(ActorId actor) override {
    Actor& a = actors_[actor];
    ISO_ASSERT(a.next && !a.is_busy);
    a.sent.push_back(std::move(*a.next));
    a.next.reset();
    a.is_busy = true;
    int failed = 0;
    a.waiting_for = mysql_real_query_start(&failed, a.connection.get(), a.sent.back().data(),
                                           a.sent.back().size());
    if (a.waiting_for == 0) finish(a, failed);
    return {};
  }

  Result<void> pump(int milliseconds) override {
    std::vector<pollfd> watched;
    std::vector<Actor*> busy;
    for (Actor& a : actors_) {
      if (!a.is_busy) continue;
      short events = 0;
      if ((a.waiting_for & MYSQL_WAIT_READ) != 0) events |= POLLIN;
      if ((a.waiting_for & MYSQL_WAIT_WRITE) != 0) events |= POLLOUT;
      watched.push_back(
          {.fd = mysql_get_socket(a.connection.get()), .events = events, .revents = 0});
      busy.push_back(&a);
    }
    if (busy.empty()) return {};
    ::poll(watched.data(), watched.size(), milliseconds);
    for (std::size_t i = 0; i < busy.size(); ++i) {
      if (watched[i].revents == 0) continue;
      int ready = 0;
      if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) ready |= MYSQL_WAIT_READ;
      if ((watched[i].revents & POLLOUT) != 0) ready |= MYSQL_WAIT_WRITE;
      int failed = 0;
      busy[i]->waiting_for = mysql_real_query_cont(&failed, busy[i]->connection.get(), ready);
      if (busy[i]->waiting_for == 0) finish(*busy[i], failed);
    }
    return {};
  }

  // INNODB_TRX and INNODB_LOCK_WAITS are copies that may be 100 ms old, and so may show
  // a session as waiting that was let go. The monitor's text is not; it does not say for whom, and
  // InnoDB itself ends deadlocks at once.
  Result<std::vector<Wait>> waits() override {
    const Answer answer = my_run(monitor_.get(), "SHOW ENGINE INNODB STATUS");
    if (answer.has_failed())
      return Error{.what = answer.message, .hint = "the user needs the privilege PROCESS"};
    const std::string text = answer.tables.at(0).rows.at(0).at(2).value_or("");
    std::set<unsigned long> waiting;
    std::size_t at = text.find("\nLIST OF TRANSACTIONS FOR EACH SESSION");
    while ((at = text.find("---TRANSACTION ", at)) != std::string::npos) {
      const std::size_t end = std::min(text.find("---TRANSACTION ", at + 1), text.size());
      const std::string_view one = std::string_view(text).substr(at, end - at);
      at = end;
      const std::size_t id = one.find("thread id ");
      if (one.find("\nLOCK WAIT ") == std::string_view::npos || id == std::string_view::npos)
        continue;
      waiting.insert(std::strtoul(std::string(one.substr(id + 10, 20)).c_str(), nullptr, 10));
    }
    std::vector<Wait> waits;
    for (const ActorId i : actors_.ids())
      if (actors_[i].is_busy && waiting.contains(mysql_thread_id(actors_[i].connection.get())))
        waits.push_back({.actor = i});
    return waits;
  }

  const Answers& answers(ActorId actor) const override { return actors_[actor].answers; }
  const ById<StatementId, std::string>& statements(ActorId actor) const override {
    return actors_[actor].sent;
  }
  std::uint64_t process(ActorId actor) const override {
    return mysql_thread_id(actors_[actor].connection.get());
  }
  void restart(std::vector<Script> scripts) override {
    ISO_ASSERT(scripts.size() == actors_.size());
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      Actor& a = actors_.entries()[i];
      ISO_ASSERT(!a.is_busy);
      a.sent.clear();
      a.answers.clear();
      a.script = std::move(scripts[i]);
      a.next = a.script(nullptr);
    }
  }

 private:
  static void finish(Actor& a, int failed) {
    a.is_busy = false;
    a.answers.push_back(my_answer(a.connection.get(), failed));
    a.next = a.script(&a.answers.back());
  }

  std::string dsn_;
  MyAddress address_;
  MyConnection monitor_;
  ById<ActorId, Actor> actors_;
};

class MariaDbServer final : public Server {
 public:
  MariaDbServer(std::string dsn, MyAddress address, MyConnection connection, std::string product,
                bool has_snapshots)
      : dsn_(std::move(dsn)),
        address_(std::move(address)),
        connection_(std::move(connection)),
        product_(std::move(product)),
        has_snapshots_(has_snapshots) {}

  Result<std::unique_ptr<Sessions>> open(std::vector<ActorScript> actors) override {
    auto monitor = my_connect(address_);
    if (!monitor) return monitor.error();
    auto sessions = std::make_unique<MySessions>(dsn_, address_, std::move(*monitor));
    for (ActorScript& actor : actors)
      if (auto added = sessions->add(std::move(actor)); !added) return added.error();
    return std::unique_ptr<Sessions>(std::move(sessions));
  }
  Answer run(const std::string& sql) override {
    Answer answer = my_run(connection_.get(), sql);
    if (answer.error != "2006" && answer.error != "2013") return answer;
    auto connection = my_connect(address_);
    if (!connection) return answer;
    connection_ = std::move(*connection);
    return my_run(connection_.get(), sql);
  }
  bool is_connected() override { return mysql_ping(connection_.get()) == 0; }
  const std::string& dsn() const override { return dsn_; }
  std::string product() const override { return product_; }
  std::vector<DeclaredLevel> levels() const override {
    using sql::server::PgLevel;
    std::vector<DeclaredLevel> levels;
    const auto declare = [&](std::string_view level, bool snapshots) {
      std::vector<std::string> setup = {
          fmt::format("SET SESSION TRANSACTION ISOLATION LEVEL {}", level)};
      if (has_snapshots_)
        setup.push_back(
            fmt::format("SET SESSION innodb_snapshot_isolation = {}", snapshots ? "ON" : "OFF"));
      levels.push_back({fmt::format("{}{}", level, snapshots ? ", innodb_snapshot_isolation" : ""),
                        std::move(setup)});
    };
    declare(sql::server::kReadUncommitted, false);
    declare(sql_words_of(PgLevel::ReadCommitted), false);
    declare(sql_words_of(PgLevel::RepeatableRead), false);
    if (has_snapshots_) declare(sql_words_of(PgLevel::RepeatableRead), true);
    declare(sql_words_of(PgLevel::Serializable), false);
    return levels;
  }
  std::string begin() const override { return "START TRANSACTION"; }
  std::string share_clause() const override { return "LOCK IN SHARE MODE"; }
  bool has_returning() const override { return false; }
  std::string kill_statement(std::uint64_t process) const override {
    return fmt::format("KILL CONNECTION {}", process);
  }
  std::string create_space(const std::string& name) const override {
    return "CREATE DATABASE " + name;
  }
  std::string drop_space(const std::string& name) const override {
    return "DROP DATABASE IF EXISTS " + name;
  }

 private:
  std::string dsn_;
  MyAddress address_;
  MyConnection connection_;
  std::string product_;
  bool has_snapshots_;
};

}  // namespace

Result<std::unique_ptr<Server>> open_mariadb(const std::string& dsn) {
  auto address = read_address(dsn);
  if (!address) return address.error();
  auto connection = my_connect(*address);
  if (!connection) return connection.error();
  const unsigned long version = mysql_get_server_version(connection->get());
  const std::string_view name = mysql_get_server_info(connection->get());
  const std::string product =
      fmt::format("{} {}.{}", name.find("MariaDB") != std::string_view::npos ? "MariaDB" : "MySQL",
                  version / 10'000, version / 100 % 100);
  const Answer snapshots =
      my_run(connection->get(), "SHOW VARIABLES LIKE 'innodb_snapshot_isolation'");
  const bool has_snapshots = !snapshots.has_failed() && !snapshots.tables.at(0).rows.empty();
  return std::unique_ptr<Server>(std::make_unique<MariaDbServer>(
      dsn, std::move(*address), std::move(*connection), product, has_snapshots));
}

}  // namespace isoscope::force
