#include "force/stress.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "force/last_will.h"
#include "force/stress_client.h"

namespace isoscope::force {
namespace {

using StressClock = std::chrono::steady_clock;

constexpr int kStressPumpMilliseconds = 20;
constexpr std::int64_t kFirstBalance = 1'000;
constexpr std::size_t kTxnsOfARound = 20'000;  // connections keep their answers: bounds memory
constexpr std::size_t kFirstLook = 1'000;
constexpr std::size_t kRowsOfAnInsert = 1'000;
constexpr int kMostAttempts = 300;  // to connect to a server that is being started
constexpr int kAttemptMilliseconds = 100;

// A table of our own on the server, gone with the object.
class StressTable {
 public:
  explicit StressTable(Server& server)
      : server_(server), space_(fmt::format("isoscope_stress_{}", ::getpid())) {}
  ~StressTable() { server_.run(server_.drop_space(space_)); }
  StressTable(const StressTable&) = delete;
  StressTable& operator=(const StressTable&) = delete;

  std::string name() const { return space_ + ".t"; }
  Result<void> create(const StressOptions& options) {
    if_killed_ = CleanupIfKilled::of_sql(server_.dsn(), server_.drop_space(space_));
    is_list_ = options.workload == StressWorkload::List;
    for (const std::string& sql :
         {server_.drop_space(space_), server_.create_space(space_),
          fmt::format("CREATE TABLE {1} (k int PRIMARY KEY, v {0} NOT NULL, balance bigint NOT "
                      "NULL, prev {0})",
                      is_list_ ? "text" : "bigint", name())})
      if (auto done = execute(sql); !done) return done;
    return {};
  }
  // So that there are so many.
  Result<void> add_rows(std::size_t count) {
    while (rows_ < count) {
      std::string sql = fmt::format("INSERT INTO {} VALUES", name());
      for (const std::size_t end = std::min(count, rows_ + kRowsOfAnInsert); rows_ < end; ++rows_)
        sql += fmt::format("{} ({}, {}, {}, NULL)", sql.ends_with(')') ? "," : "", rows_,
                           is_list_ ? "''" : "0", kFirstBalance);
      if (auto done = execute(sql); !done) return done;
    }
    return {};
  }

 private:
  Result<void> execute(const std::string& sql) {
    const Answer answer = server_.run(sql);
    if (!answer.has_failed()) return {};
    return Error{.what = fmt::format("the server refuses: {}", answer.message), .hint = sql};
  }

  Server& server_;
  std::string space_;
  CleanupIfKilled if_killed_;
  bool is_list_ = false;
  std::size_t rows_ = 0;
};

class StressTest {
 public:
  StressTest(Server& server, const StressOptions& options, const DeclaredLevel& level,
             StressTable& table)
      : server_(server),
        options_(options),
        level_(level),
        table_(table),
        state_{.options = options,
               .rows = StressRows(options),
               .table = table.name(),
               .begin = server.begin(),
               .has_returning = server.has_returning()},
        budget_(options.budget),
        run_{.product = server.product()} {
    for (std::size_t c = 0; c < options.clients; ++c)
      clients_.push_back(std::make_unique<StressClient>(state_, c));
  }

  Result<StressRun> run() {
    while (!state_.is_stopping && state_.started < options_.txns) {
      state_.round_end = std::min(options_.txns, state_.started + kTxnsOfARound);
      if (auto round = play_round(); !round) return round.error();
    }
    const bool has_faults = options_.kill_clients + options_.kill_servers > 0;
    if (has_faults && !run_.was_cut) {
      state_.is_last = true;
      if (auto round = play_round(); !round) return round.error();
    }
    count();
    Budget building = run_.was_cut ? Budget() : budget_;
    auto history = history_of_clients(clients_, options_, building);
    if (!history) return history.error();
    run_.history = std::move(*history);
    run_.lost = lost_commits(clients_, options_);
    return std::move(run_);
  }

 private:
  double elapsed() const {
    return std::chrono::duration<double>(StressClock::now() - start_).count();
  }

  Result<std::unique_ptr<Sessions>> connect() {
    for (int attempt = 1;; ++attempt) {
      std::vector<ActorScript> actors;
      for (std::size_t c = 0; c < clients_.size(); ++c) {
        StressClient* client = clients_[c].get();
        client->renew();
        actors.push_back({.name = fmt::format("c{}", c + 1),
                          .script = [client](const Answer* last) { return client->next(last); },
                          .setup = level_.setup});
      }
      auto stage = server_.open(std::move(actors));
      const bool may_come = run_.numbers.killed_servers > 0 && attempt < kMostAttempts;
      if (stage || !may_come || budget_.expired_now()) return stage;
      ::poll(nullptr, 0, kAttemptMilliseconds);
    }
  }

  // Until no client may start a transaction, or a connection is lost and all clients are at rest.
  Result<void> play_round() {
    state_.is_pausing = false;
    auto stage = connect();
    if (!stage) return stage.error();
    state_.rows.grow(state_.round_end - state_.started, options_.longest);
    if (auto added = table_.add_rows(state_.rows.size()); !added) return added;
    for (bool is_alive = true; is_alive;) {
      const auto released = (*stage)->release_ready();
      if (!released) return released.error();
      is_alive = *released;
      if (auto pumped = (*stage)->pump(kStressPumpMilliseconds); !pumped) return pumped.error();
      if (budget_.expired_now() && !state_.is_stopping) state_.is_stopping = run_.was_cut = true;
      if (options_.seconds > 0 && elapsed() > options_.seconds) state_.is_stopping = true;
      if (state_.is_last) continue;
      kill_clients(**stage);
      if (must_kill_server()) {
        // In the middle of what the clients do; they find out by themselves.
        if (auto killed = kill_server(); !killed) return killed.error();
        state_.is_pausing = true;
      }
      if (auto looked = look(); !looked) return looked.error();
    }
    return {};
  }

  // The share of the transactions that have been started, in parts of so many faults.
  bool is_due(std::size_t faults, std::size_t done) const {
    return done < faults && state_.started * (faults + 1) >= options_.txns * (done + 1);
  }
  bool must_kill_server() const {
    return is_due(options_.kill_servers, run_.numbers.killed_servers);
  }

  void kill_clients(const Sessions& stage) {
    if (!is_due(options_.kill_clients, tried_kills_)) return;
    const ActorId victim{static_cast<std::uint32_t>(tried_kills_++ % clients_.size())};
    if (!server_.run(server_.kill_statement(stage.process(victim))).has_failed())
      ++run_.numbers.killed_clients;
  }

  Result<void> kill_server() {
    ++run_.numbers.killed_servers;
    constexpr const char* kHint = "it kills the server and starts it again";
    server_.run("SELECT 1");  // there is a connection that can be lost
    if (std::system(options_.kill_server.c_str()) != 0)
      return Error{.what = fmt::format("'{}' failed", options_.kill_server), .hint = kHint};
    if (server_.is_connected())
      return Error{.what = fmt::format("'{}' has not ended the server: a connection that was open "
                                       "before still works",
                                       options_.kill_server),
                   .hint = kHint};
    return {};
  }

  // Reports progress, and asks whether it is enough.
  Result<void> look() {
    if (options_.progress && elapsed() > told_ + 0.5) {
      told_ = elapsed();
      count();
      options_.progress(run_.numbers,
                        static_cast<double>(state_.started) / static_cast<double>(options_.txns));
    }
    if (!options_.is_enough || state_.is_stopping || state_.ended < next_look_) return {};
    next_look_ = state_.ended * 2;
    auto history = history_of_clients(clients_, options_, budget_);
    if (!history) return history.error();
    if (options_.is_enough(*history)) state_.is_stopping = true;
    return {};
  }

  void count() {
    StressNumbers& numbers = run_.numbers;
    numbers.committed = numbers.unknown = 0;
    numbers.aborts.clear();
    numbers.seconds = elapsed();
    for (const auto& client : clients_) {
      for (const StressTxn& txn : client->txns) {
        if (txn.ended == 0) continue;
        if (txn.status == TxnStatus::Committed) ++numbers.committed;
        if (txn.status == TxnStatus::Unknown) ++numbers.unknown;
        if (txn.status == TxnStatus::Aborted) ++numbers.aborts[txn.error];
      }
    }
  }

  Server& server_;
  const StressOptions& options_;
  const DeclaredLevel& level_;
  StressTable& table_;
  StressState state_;
  Budget budget_;
  StressRun run_;
  std::vector<std::unique_ptr<StressClient>> clients_;
  std::size_t tried_kills_ = 0;  // of clients
  StressClock::time_point start_ = StressClock::now();
  double told_ = 0;
  std::size_t next_look_ = kFirstLook;
};

}  // namespace

Result<StressRun> stress(Server& server, const StressOptions& options) {
  const auto declared = server.levels();
  const auto level = std::ranges::find_if(declared, [&](const DeclaredLevel& candidate) {
    return std::ranges::equal(
        candidate.name, options.isolation,
        [](unsigned char a, unsigned char b) { return std::toupper(a) == std::toupper(b); });
  });
  if (level == declared.end()) {
    std::string names;
    for (const DeclaredLevel& one : declared) names += (names.empty() ? "" : "; ") + one.name;
    return Error{.what = fmt::format("the server does not declare a level '{}'", options.isolation),
                 .hint = "it declares " + names};
  }
  StressTable table(server);
  if (auto created = table.create(options); !created) return created.error();
  return StressTest(server, options, *level, table).run();
}

}  // namespace isoscope::force
