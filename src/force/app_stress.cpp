#include "force/app_stress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "force/app_stage.h"
#include "force/recorded_run.h"
#include "force/server.h"
#include "record/server_log.h"
#include "sql/read/workload_reader.h"
#include "support/rng.h"

namespace isoscope::force {
namespace {

using AppClock = std::chrono::steady_clock;

constexpr int kAppPumpMilliseconds = 20;
constexpr double kNewValue = 0.1;  // how often an argument is one that was not used before

// What arguments are made of.
class ArgumentPool {
 public:
  ArgumentPool(const sql::Application& app, std::size_t keys, std::uint64_t seed) : rng_(seed) {
    for (const sql::InitialRow& row : app.initial_rows)
      for (const sql::Value& value : row.values) add(value);
    for (const sql::SqlSession& session : app.sessions)
      for (const sql::SessionCall& call : session.calls)
        for (const sql::Value& value : call.arguments) add(value);
    for (std::size_t i = 1; i <= keys; ++i) add(sql::Value(static_cast<std::int64_t>(i)));
    if (texts_.empty()) add(sql::Value(std::string("a")));
  }

  std::string argument(sql::Type type) {
    switch (type) {
      case sql::Type::Integer:
        if (rng_.chance(kNewValue)) return std::to_string(1'000'000 + ++fresh_);
        return std::to_string(numbers_[rng_.below(numbers_.size())]);
      case sql::Type::Text:
        if (rng_.chance(kNewValue)) return fmt::format("'new {}'", ++fresh_);
        return sql::print(sql::Value(texts_[rng_.below(texts_.size())]));
      case sql::Type::Boolean: return rng_.chance(0.5) ? "true" : "false";
      case sql::Type::Numeric:
        if (decimals_.empty() || rng_.chance(kNewValue))
          return fmt::format("{}.{:02}", rng_.below(100), rng_.below(100));
        return decimals_[rng_.below(decimals_.size())];
    }
    return "NULL";
  }
  std::size_t below(std::size_t n) { return rng_.below(n); }

 private:
  void add(const sql::Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
      if (std::ranges::find(numbers_, *number) == numbers_.end()) numbers_.push_back(*number);
    } else if (std::holds_alternative<sql::Decimal>(value.data)) {
      const std::string text = sql::print(value);
      if (std::ranges::find(decimals_, text) == decimals_.end()) decimals_.push_back(text);
    } else if (const auto* text = std::get_if<std::string>(&value.data)) {
      if (std::ranges::find(texts_, *text) == texts_.end()) texts_.push_back(*text);
    }
  }
  Rng rng_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> texts_;
  std::vector<std::string> decimals_;
  std::uint64_t fresh_ = 0;
};

struct CallableFunction {
  std::string name;
  std::string isolation;
  std::vector<sql::Type> parameters;
};

struct EndedCall {
  CalledTxn txn;
  std::string call = {};
  std::string message = {};  // of the error
  ActorId client = {};
};

class AppStress {
 public:
  AppStress(const sql::Application& app, const AppStressOptions& options, AppSchema& schema,
            std::vector<CallableFunction> functions)
      : options_(options),
        budget_(options.budget),
        schema_(schema),
        functions_(std::move(functions)),
        pool_(app, options.keys, options.seed) {}

  Result<AppStressRun> run() {
    if (auto loaded = schema_.load(); !loaded) return loaded.error();
    if (!schema_.is_recorded()) return Error{.what = schema_.no_record()};
    auto log = record::ServerLog::open(options_.dsn);
    if (!log) return log.error();
    if (auto played = play(); !played) return played.error();
    count();
    if (auto refused = refusal(); !refused.empty())
      return Error{.what = "the server refuses the functions with gates: " + refused};
    return judge(*log);
  }

 private:
  // A client's next statement.
  std::optional<std::string> next(ActorId client, const Answer* last) {
    std::optional<EndedCall>& open = open_[client];
    if (last != nullptr && open) note(*open, *last, client);
    if (open) return "COMMIT";
    if (is_stopping_ || started_ == options_.txns) return std::nullopt;
    ++started_;
    const CallableFunction& function = functions_[pool_.below(functions_.size())];
    std::string arguments;
    for (const sql::Type type : function.parameters)
      arguments += (arguments.empty() ? "" : ", ") + pool_.argument(type);
    open = EndedCall{.txn = {.connection = client.index + 1,
                             .function = function.name,
                             .isolation = function.isolation},
                     .call = fmt::format("{}({})", function.name, arguments),
                     .client = client};
    is_committing_[client] = false;
    return fmt::format("BEGIN ISOLATION LEVEL {}; SELECT {}", function.isolation, open->call);
  }

  // The call was answered, or its COMMIT.
  void note(EndedCall& call, const Answer& answer, ActorId client) {
    if (answer.has_failed() && call.txn.error.empty()) {
      call.txn.error = answer.error;
      call.message = answer.message;
    }
    const auto told = read_notices(answer.notices);
    call.txn.notices.insert(call.txn.notices.end(), told.begin(), told.end());
    if (!is_committing_[client]) {
      is_committing_[client] = true;
      return;
    }
    const bool is_lost = answer.error.starts_with("08") || answer.error.starts_with("57P");
    call.txn.status = answer.tag == "COMMIT" ? TxnStatus::Committed
                      : is_lost              ? TxnStatus::Unknown
                                             : TxnStatus::Aborted;
    ended_.push_back(std::move(call));
    open_[client].reset();
  }

  Result<void> play() {
    open_.resize(options_.clients);
    is_committing_.resize(options_.clients);
    std::vector<ActorScript> actors;
    for (const ActorId c : open_.ids())
      actors.push_back({.name = fmt::format("c{}", c.index + 1),
                        .script = [this, c](const Answer* last) { return next(c, last); },
                        .setup = schema_.session_setup()});
    auto stage = PgSessions::open({.dsn = options_.dsn}, std::move(actors));
    if (!stage) return stage.error();
    for (bool is_alive = true; is_alive;) {
      const auto released = (*stage)->release_ready();
      if (!released) return released.error();
      is_alive = *released;
      if (auto pumped = (*stage)->pump(kAppPumpMilliseconds); !pumped) return pumped.error();
      if (budget_.expired_now() && !is_stopping_) is_stopping_ = run_.was_cut = true;
      if (options_.seconds > 0 && elapsed() > options_.seconds) is_stopping_ = true;
      if (options_.progress && elapsed() > told_ + 0.5) {
        told_ = elapsed();
        count();
        options_.progress(run_.numbers,
                          static_cast<double>(started_) / static_cast<double>(options_.txns));
      }
    }
    return {};
  }

  double elapsed() const { return std::chrono::duration<double>(AppClock::now() - start_).count(); }

  void count() {
    StressNumbers& numbers = run_.numbers;
    numbers.committed = numbers.unknown = 0;
    numbers.aborts.clear();
    run_.calls.clear();
    numbers.seconds = elapsed();
    for (const EndedCall& call : ended_) {
      if (call.txn.status == TxnStatus::Committed) {
        ++numbers.committed;
        ++run_.calls[call.txn.function];
      }
      if (call.txn.status == TxnStatus::Unknown) ++numbers.unknown;
      if (call.txn.status == TxnStatus::Aborted) ++numbers.aborts[call.txn.error];
    }
  }

  // A name that is a variable to us may be something else to the server.
  std::string refusal() const {
    const auto refused = std::ranges::find_if(
        ended_, [](const EndedCall& call) { return call.txn.error.starts_with("42"); });
    return refused == ended_.end() ? std::string() : refused->call + ": " + refused->message;
  }

  Result<AppStressRun> judge(record::ServerLog& log) {
    std::vector<std::pair<std::string, record::RecordedTxn>> txns;
    for (const EndedCall& call : ended_) {
      auto txn = recorded_txn(schema_.gated(), call.txn);
      if (txn.statements.empty() && txn.gaps.empty()) continue;
      txns.emplace_back(fmt::format("c{}", call.client.index + 1), std::move(txn));
      run_.call_of[fmt::format("T{}", txns.size())] = call.call;
    }
    if (txns.empty()) return Error{.what = "no statement of a function was recorded"};
    record::Gatekeeper gates;
    auto texts = recorded_texts(std::move(txns), log, gates, schema_.name());
    if (!texts) return texts.error();
    run_.text = std::move(texts->text);
    run_.fine = std::move(texts->fine);
    return std::move(run_);
  }

  const AppStressOptions& options_;
  Budget budget_;
  AppSchema& schema_;
  std::vector<CallableFunction> functions_;
  ArgumentPool pool_;
  ById<ActorId, std::optional<EndedCall>> open_;  // of each client
  ById<ActorId, bool> is_committing_;
  std::vector<EndedCall> ended_;  // in the order of their ends
  std::size_t started_ = 0;
  bool is_stopping_ = false;
  AppStressRun run_;
  AppClock::time_point start_ = AppClock::now();
  double told_ = 0;
};

}  // namespace

Result<AppStressRun> stress_app(const sql::Application& app, const std::string& text,
                                const AppStressOptions& options) {
  std::vector<CallableFunction> functions;
  std::vector<std::string> left_out;
  for (const sql::Function& function : app.functions) {
    CallableFunction callable{
        .name = function.name,
        .isolation = function.level.empty() ? options.isolation : sql_isolation(function.level),
        .parameters = {}};
    bool is_callable = function.name.find_first_of("/'") == std::string::npos;
    for (std::uint32_t i = 0; i < function.num_parameters; ++i) {
      // A column of a row, r.a, is no argument of its own.
      is_callable = is_callable && !function.variables[i].is_array &&
                    function.variables[i].name.find('.') == std::string::npos;
      callable.parameters.push_back(function.variables[i].type);
    }
    if (callable.isolation.empty())
      return Error{.where = function.place,
                   .what = fmt::format("'{}' is no level of PostgreSQL", function.level)};
    if (sql::find_end_of_transaction(function.body) != nullptr) {
      left_out.push_back(function.name + " (it ends its transaction and goes on)");
    } else if (is_callable) {
      functions.push_back(std::move(callable));
    } else {
      left_out.push_back(function.name + " (its arguments cannot be made up)");
    }
  }
  for (const std::string& name : app.left_out) left_out.push_back(name + " (not understood)");
  if (functions.empty()) return Error{.what = "there is no function to call"};
  auto server = open_postgres(options.dsn);
  if (!server) return server.error();
  auto schema = AppSchema::open(options.dsn, text);
  if (!schema) return schema.error();
  auto run = AppStress(app, options, **schema, std::move(functions)).run();
  if (!run) return run.error();
  run->product = (*server)->product();
  run->left_out = std::move(left_out);
  return run;
}

std::string app_with_sessions(std::string_view text, const std::vector<std::string>& calls) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = text.substr(begin, end - begin);
    if (!line.starts_with("--") || !sql::is_session_line(line)) out += line;
    begin = end;
  }
  if (!out.ends_with('\n')) out += '\n';
  for (std::size_t i = 0; i < calls.size(); ++i)
    out += fmt::format("-- session c{}: {}\n", i + 1, calls[i]);
  return out;
}

}  // namespace isoscope::force
