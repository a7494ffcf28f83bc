#include "force/stress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "history/builder.h"
#include "support/rng.h"

namespace isoscope::force {
namespace {

using StressClock = std::chrono::steady_clock;

constexpr int kStressPumpMilliseconds = 20;
constexpr std::int64_t kFirstBalance = 1'000;

struct StressOp {
  enum class Kind : std::uint8_t { Read, Write };
  Kind kind = Kind::Read;
  std::size_t key = 0;
  std::vector<std::int64_t> values = {};  // one; of a list that was read, its elements
};

struct StressTxn {
  TxnStatus status = TxnStatus::Aborted;
  std::vector<StressOp> ops = {};
  std::string error = {};
};

std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    std::int64_t number = 0;
    const auto [stop, failure] = std::from_chars(at, end, number);
    if (failure == std::errc()) numbers.push_back(number);
    at = std::max(stop, at) + 1;
  }
  return numbers;
}

// What all clients share.
struct StressState {
  const StressOptions& options;
  std::string table;
  std::string begin;
  std::size_t started = 0;      // transactions
  std::int64_t last_value = 0;  // every written value is one more
  bool is_stopping = false;

  bool may_start() const { return !is_stopping && started < options.txns; }
};

// One client: says a statement, and takes note of its answer when it is asked for the next one.
class StressClient {
 public:
  StressClient(StressState& state, std::size_t number)
      : state_(state), rng_(state.options.seed * 1'000'003 + number) {}

  std::optional<std::string> next(const Answer* last) {
    if (last != nullptr) note(*last);
    if (is_gone_) return std::nullopt;
    if (is_rolling_back_) {
      is_rolling_back_ = false;
      phase_ = Phase::Over;
      return "ROLLBACK";
    }
    if (phase_ == Phase::Idle) {
      if (!state_.may_start()) return std::nullopt;
      ++state_.started;
      txns.emplace_back();
      plan();
      phase_ = Phase::Begun;
      return state_.begin;
    }
    if (next_ < plan_.size()) return statement(plan_[next_]);
    phase_ = Phase::Committing;
    return "COMMIT";
  }

  std::vector<StressTxn> txns;

 private:
  enum class Phase : std::uint8_t { Idle, Begun, Running, Committing, Over };

  void note(const Answer& answer) {
    StressTxn& txn = txns.back();
    if (answer.has_failed()) {
      const bool is_lost = answer.error.starts_with("08") || answer.error.starts_with("57P") ||
                           answer.error == "2006" || answer.error == "2013";
      if (phase_ == Phase::Committing && is_lost) txn.status = TxnStatus::Unknown;
      if (txn.error.empty()) txn.error = answer.error;
      is_gone_ = is_lost;
      is_rolling_back_ = phase_ != Phase::Committing && phase_ != Phase::Over;
      if (!is_rolling_back_) phase_ = Phase::Idle;
      return;
    }
    switch (phase_) {
      case Phase::Begun:
        phase_ = Phase::Running;
        break;
      case Phase::Running:
        note_operation(answer);
        ++next_;
        break;
      case Phase::Committing:
        txn.status = answer.tag == "ROLLBACK" ? TxnStatus::Aborted : TxnStatus::Committed;
        phase_ = Phase::Idle;
        break;
      case Phase::Over:
      case Phase::Idle:
        phase_ = Phase::Idle;
        break;
    }
  }

  void note_operation(const Answer& answer) {
    StressOp op = plan_[next_];
    if (op.kind == StressOp::Kind::Read) {
      const Row& row = answer.tables.at(0).rows.at(0);
      op.values = numbers_in(row.at(0).value_or(""));
      if (state_.options.workload == StressWorkload::Bank) {
        balances_.push_back(std::strtoll(row.at(1).value_or("0").c_str(), nullptr, 10));
      }
    }
    txns.back().ops.push_back(std::move(op));
  }

  void plan() {
    next_ = 0;
    plan_.clear();
    balances_.clear();
    if (state_.options.workload == StressWorkload::Bank) {
      const std::size_t from = key();
      const std::size_t to = (from + 1 + rng_.below(state_.options.keys - 1)) % state_.options.keys;
      plan_ = {{.kind = StressOp::Kind::Read, .key = from},
               {.kind = StressOp::Kind::Read, .key = to}};
      if (rng_.chance(0.2)) return;  // somebody only looks
      for (const std::size_t k : {from, to})
        plan_.push_back({.kind = StressOp::Kind::Write, .key = k, .values = {++state_.last_value}});
      return;
    }
    const std::size_t length = 1 + rng_.below(state_.options.longest);
    for (std::size_t i = 0; i < length; ++i) {
      StressOp op{.key = key()};
      if (rng_.chance(0.5)) {
        op.kind = StressOp::Kind::Write;
        op.values = {++state_.last_value};
      }
      plan_.push_back(std::move(op));
    }
  }
  std::size_t key() { return rng_.below(state_.options.keys); }

  std::string statement(const StressOp& op) {
    const bool is_bank = state_.options.workload == StressWorkload::Bank;
    if (op.kind == StressOp::Kind::Read)
      return fmt::format("SELECT v{} FROM {} WHERE k = {}", is_bank ? ", balance" : "",
                         state_.table, op.key);
    if (state_.options.workload == StressWorkload::List)
      return fmt::format("UPDATE {} SET v = CONCAT(v, ' {}') WHERE k = {}", state_.table,
                         op.values[0], op.key);
    if (!is_bank)
      return fmt::format("UPDATE {} SET v = {} WHERE k = {}", state_.table, op.values[0], op.key);
    const bool is_from = op.key == plan_[0].key;
    return fmt::format("UPDATE {} SET v = {}, balance = {} WHERE k = {}", state_.table,
                       op.values[0], balances_[is_from ? 0 : 1] + (is_from ? -1 : 1), op.key);
  }

  StressState& state_;
  Rng rng_;
  Phase phase_ = Phase::Idle;
  bool is_rolling_back_ = false;
  bool is_gone_ = false;  // the connection is lost
  std::vector<StressOp> plan_;
  std::size_t next_ = 0;
  std::vector<std::int64_t> balances_;
};

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
    const bool is_list = options.workload == StressWorkload::List;
    std::vector<std::string> statements = {
        server_.drop_space(space_), server_.create_space(space_),
        fmt::format("CREATE TABLE {} (k int PRIMARY KEY, v {} NOT NULL, balance bigint NOT NULL)",
                    name(), is_list ? "text" : "bigint")};
    for (std::size_t k = 0; k < options.keys; ++k)
      statements.push_back(fmt::format("INSERT INTO {} VALUES ({}, {}, {})", name(), k,
                                       is_list ? "''" : "0", kFirstBalance));
    for (const std::string& sql : statements) {
      const Answer answer = server_.run(sql);
      if (answer.has_failed())
        return Error{.what = fmt::format("the server refuses: {}", answer.message), .hint = sql};
    }
    return {};
  }

 private:
  Server& server_;
  std::string space_;
};

Result<History> history_of_clients(const std::vector<std::unique_ptr<StressClient>>& clients,
                                   const StressOptions& options, Budget& budget) {
  const bool is_list = options.workload == StressWorkload::List;
  HistoryBuilder b(is_list ? InitialValues::Nil : InitialValues::Zero);
  for (std::size_t c = 0; c < clients.size(); ++c) {
    const SessionId session = b.session(fmt::format("c{}", c + 1));
    for (const StressTxn& txn : clients[c]->txns) {
      if (txn.ops.empty()) continue;
      const TxnId t = b.begin(session, txn.status, {});
      for (const StressOp& op : txn.ops) {
        const KeyId x = b.key(fmt::format("t[{}]", op.key));
        if (is_list) {
          std::vector<Value> values;
          for (const std::int64_t v : op.values) values.push_back(Value::of(v));
          if (op.kind == StressOp::Kind::Read) {
            b.read_list(t, x, values, {});
          } else {
            b.append(t, x, values.at(0), {});
          }
        } else if (op.kind == StressOp::Kind::Read) {
          b.read(t, x, Value::of(op.values.at(0)), {});
        } else {
          b.write(t, x, Value::of(op.values.at(0)), {});
        }
      }
    }
  }
  return std::move(b).build(&budget);
}

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
  StressState state{.options = options, .table = table.name(), .begin = server.begin()};
  std::vector<std::unique_ptr<StressClient>> clients;
  std::vector<ActorScript> actors;
  for (std::size_t c = 0; c < options.clients; ++c) {
    clients.push_back(std::make_unique<StressClient>(state, c));
    StressClient* client = clients.back().get();
    actors.push_back({.name = fmt::format("c{}", c + 1),
                      .script = [client](const Answer* last) { return client->next(last); },
                      .setup = level->setup});
  }
  auto stage = server.open(std::move(actors));
  if (!stage) return stage.error();
  Budget budget = options.budget;
  StressRun run{.product = server.product()};
  const auto start = StressClock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(StressClock::now() - start).count();
  };
  for (bool is_alive = true; is_alive;) {
    is_alive = false;
    for (std::size_t c = 0; c < options.clients; ++c) {
      if ((*stage)->state(c) == ActorState::Ready)
        if (auto released = (*stage)->release(c); !released) return released.error();
      is_alive = is_alive || (*stage)->state(c) != ActorState::Done;
    }
    if (auto pumped = (*stage)->pump(kStressPumpMilliseconds); !pumped) return pumped.error();
    if (budget.expired_now() && !state.is_stopping) state.is_stopping = run.was_cut = true;
    if (options.seconds > 0 && elapsed() > options.seconds) state.is_stopping = true;
    if (options.progress)
      options.progress(fmt::format("running transactions: {} begun", state.started),
                       static_cast<double>(state.started) / static_cast<double>(options.txns));
  }
  run.seconds = elapsed();
  for (const auto& client : clients) {
    for (const StressTxn& txn : client->txns) {
      if (txn.status == TxnStatus::Committed) ++run.committed;
      if (txn.status == TxnStatus::Unknown) ++run.unknown;
      if (txn.status == TxnStatus::Aborted) ++run.aborts[txn.error];
    }
  }
  Budget building = run.was_cut ? Budget() : budget;
  auto history = history_of_clients(clients, options, building);
  if (!history) return history.error();
  run.history = std::move(*history);
  return run;
}

}  // namespace isoscope::force
