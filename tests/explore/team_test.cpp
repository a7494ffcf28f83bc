// Explorations shared among threads and processes, and left and taken up again: all as if one
// thread had done it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "explore/comparison.h"
#include "explore/outcomes.h"
#include "support/program_of.h"
#include "support/random_program.h"
#include "support/read_from_map.h"
#include "support/temp_folder.h"

namespace isoscope::explore {
namespace {

// Processes that are threads of this one, with programs of their own.
class Network {
 public:
  explicit Network(unsigned size) : boxes_(size) {}

  void send(unsigned from, unsigned to, std::string message) {
    const std::scoped_lock lock(mutex_);
    if (message.front() == kPiece) ++num_pieces;
    boxes_[to].push_back({from, std::move(message)});
  }
  std::optional<Incoming> receive(unsigned rank) {
    const std::scoped_lock lock(mutex_);
    if (boxes_[rank].empty()) return std::nullopt;
    Incoming incoming = std::move(boxes_[rank].front());
    boxes_[rank].pop_front();
    return incoming;
  }
  unsigned size() const { return static_cast<unsigned>(boxes_.size()); }

  // Pieces that went from one process to another, in all networks.
  static inline std::atomic<int> num_pieces = 0;

 private:
  static constexpr char kPiece = 1;  // how such a message begins

  std::mutex mutex_;
  std::vector<std::deque<Incoming>> boxes_;
};

class Seat final : public Transport {
 public:
  Seat(Network& network, unsigned rank) : network_(network), rank_(rank) {}
  unsigned rank() const override { return rank_; }
  unsigned size() const override { return network_.size(); }
  void send(unsigned to, std::string message) override {
    network_.send(rank_, to, std::move(message));
  }
  std::optional<Incoming> receive() override { return network_.receive(rank_); }

 private:
  Network& network_;
  unsigned rank_;
};

struct Case {
  std::string text;
  std::string level;
  Algorithm algorithm = Algorithm::Best;
};

// All that an exploration tells, in one line a thing.
struct Told {
  std::vector<std::uint64_t> counts;
  std::vector<Map> violations;
  std::vector<std::string> outcomes;
  std::optional<std::string> fault;
  bool operator==(const Told&) const = default;
};

void PrintTo(const Told& told, std::ostream* out) {
  *out << testing::PrintToString(told.counts) << testing::PrintToString(told.violations)
       << testing::PrintToString(told.outcomes);
}

struct Ran {
  Told told = {};
  bool is_out_of_time = false;
  std::optional<Error> error;
};

Ran run_one(const Case& the, ExploreOptions options) {
  const Program program = program_of(the.text);
  const auto plan = make_plan(program, level(the.level), levels(), the.algorithm, {});
  EXPECT_TRUE(plan.ok());
  Outcomes outcomes(program);
  options.on_history = [&](const store::Recording& run) { outcomes.add(run); };
  options.pack_listener = [&](Packer& out) { outcomes.pack(out); };
  options.merge_listener = [&](Unpacker& in) { outcomes.merge(in); };
  const Exploration all = explore(program, *plan, options);
  Ran ran{.is_out_of_time = all.is_out_of_time, .error = all.error};
  ran.told.counts = {all.histories, all.violating, all.end_states,
                     all.blocked,   all.calls,     all.is_out_of_time ? 1U : 0U};
  for (const store::Recording& run : all.violations)
    ran.told.violations.push_back(read_from_map(run));
  for (const ProgramOutcome& outcome : outcomes.sorted()) {
    std::string line = std::to_string(outcome.histories);
    for (const std::string& name : outcome.levels) line += " " + name;
    for (const store::RecordedTxn& txn : outcome.txns)
      line += testing::PrintToString(txn.locals) + (txn.is_committed ? "c" : "a");
    ran.told.outcomes.push_back(line);
  }
  if (all.fault) ran.told.fault = all.fault->error.what + all.fault->error.hint;
  return ran;
}

// As process 0 of so many tells it.
Ran run_many(const Case& the, unsigned processes, const ExploreOptions& options) {
  Network network(processes);
  std::vector<std::thread> others;
  for (unsigned rank = 1; rank < processes; ++rank) {
    others.emplace_back([&, rank] {
      Seat seat(network, rank);
      ExploreOptions own = options;
      own.transport = &seat;
      (void)run_one(the, own);
    });
  }
  Seat seat(network, 0);
  ExploreOptions own = options;
  own.transport = &seat;
  Ran ran = run_one(the, own);
  for (std::thread& other : others) other.join();
  return ran;
}

std::vector<Case> random_cases(int count, std::uint64_t factor) {
  std::vector<Case> cases;
  const std::vector<std::pair<const char*, Algorithm>> kinds = {
      {"cc", Algorithm::Best},   {"rc", Algorithm::Best},       {"psi", Algorithm::Best},
      {"ser", Algorithm::Best},  {"si", Algorithm::Schedules},  {"pc", Algorithm::Schedules},
      {"ser", Algorithm::ByTxn}, {"ser", Algorithm::Schedules}, {"cc", Algorithm::Dfs},
  };
  for (std::uint64_t seed = 1; cases.size() < static_cast<std::size_t>(count); ++seed) {
    Rng rng(seed * factor);
    Case the{.text = random_program(rng, {.sessions = 4, .max_calls = 7, .max_statements = 4}),
             .level = kinds[seed % kinds.size()].first,
             .algorithm = kinds[seed % kinds.size()].second};
    const Program program = program_of(the.text);
    const auto plan = make_plan(program, level(the.level), levels(), the.algorithm, {});
    const Exploration all = explore(program, *plan, {.budget = Budget::seconds(0.2)});
    if (!all.is_out_of_time && all.calls >= 30 && all.histories < 500)
      cases.push_back(std::move(the));
  }
  return cases;
}

TEST(ExploreTeam, TellsTheSameForAnyNumberOfProcessesAndThreads) {
  std::size_t num_violations = 0;
  for (const Case& the : random_cases(18, 7919)) {
    SCOPED_TRACE(the.level + "\n" + the.text);
    const Told one = run_one(the, {}).told;
    num_violations += one.violations.size();
    for (const unsigned processes : {1U, 2U, 4U}) {
      for (const unsigned threads : {1U, 2U, 4U})
        ASSERT_EQ(run_many(the, processes, {.threads = threads}).told, one)
            << processes << " processes, " << threads << " threads";
    }
  }
  EXPECT_GT(num_violations, 5U);
  EXPECT_GT(Network::num_pieces, 20);
}

TEST(ExploreTeam, KeepsTheFirstViolationAndTheFirstFault) {
  for (const Case& the : random_cases(12, 104729)) {
    SCOPED_TRACE(the.level + "\n" + the.text);
    const ExploreOptions first{.stop_at_violation = true, .max_violations = 1};
    const Told one = run_one(the, first).told;
    const Told many = run_many(the, 3, first).told;
    ASSERT_EQ(many.violations, one.violations);
  }
  const Case the{.text =
                     "init m = 9223372036854775807\n"
                     "txn f() { a := read(x); b := read(y); write(x, a + 1); write(y, b + 1)\n"
                     "  if (a + b == 2) { v := read(m); z := v + a }\n"
                     "  if (a + b == 1) { v := read(m); z := v * 2 }\n"
                     "}\n"
                     "session a { f() f() }\nsession b { f() }\nsession c { f() }\n",
                 .level = "cc"};
  for (const char* name : {"rc", "cc", "ser"}) {
    const Told one = run_one({the.text, name}, {}).told;
    ASSERT_TRUE(one.fault);
    EXPECT_EQ(run_many({the.text, name}, 3, {.threads = 2}).told.fault, one.fault);
  }
}

TEST(ExploreTeam, GoesOnFromItsCheckpointsWhoeverWroteThem) {
  const TempFolder folder;
  int num_resumed = 0;
  for (const Case& the : random_cases(9, 15485863)) {
    SCOPED_TRACE(the.level + "\n" + the.text);
    const Told one = run_one(the, {}).told;
    for (const unsigned processes : {1U, 3U}) {
      ExploreOptions options{.threads = processes};
      options.checkpoint = {.path = folder.at("a.checkpoint"), .seconds = 0, .identity = "a"};
      ASSERT_EQ(run_many(the, processes, options).told, one);
      // No time at all: each run leaves what it finds in the time it takes to stop.
      options.budget = Budget::seconds(0);
      Ran ran = run_many(the, processes, options);
      options.checkpoint.resumes = true;
      for (unsigned i = 0; ran.is_out_of_time && i < 40; ++i, ++num_resumed) {
        options.budget = Budget::seconds(0.0002 * i);
        ran = run_many(the, 1 + i % 3, options);
        ASSERT_FALSE(ran.error);
      }
      options.budget = {};
      ASSERT_EQ(run_many(the, 2, options).told, one);
      // It is complete: there is nothing left to do.
      ASSERT_EQ(run_one(the, options).told, one);
    }
  }
  EXPECT_GT(num_resumed, 10);
}

TEST(ExploreTeam, RefusesCheckpointsOfSomethingElse) {
  const TempFolder folder;
  const Case the{.text = "session a { { v := read(x) } }\nsession b { { write(x, 1) } }\n",
                 .level = "cc"};
  ExploreOptions options;
  options.checkpoint = {.path = folder.at("a"), .identity = "this"};
  ASSERT_EQ(run_one(the, options).told.counts[0], 2U);
  options.checkpoint.resumes = true;
  ASSERT_EQ(run_one(the, options).told.counts[0], 2U);
  options.checkpoint.identity = "that";
  EXPECT_THAT(run_one(the, options).error->what, testing::HasSubstr("another exploration"));
  const std::string whole = folder.text_of("a");
  options.checkpoint.identity = "this";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.add("a", whole.substr(0, size));
    EXPECT_TRUE(run_one(the, options).error.has_value()) << size;
  }
  options.checkpoint.path = folder.at("none");
  EXPECT_THAT(run_many(the, 2, options).error->what, testing::HasSubstr("cannot open"));
}

TEST(ExploreTeam, AgreesBeforeItBegins) {
  const auto asked = [](const std::vector<std::string>& identities,
                        const std::vector<std::optional<Error>>& errors) {
    Network network(2);
    std::optional<Error> other;
    std::thread second([&] {
      Seat seat(network, 1);
      if (const auto agreed = agree(seat, identities[1], errors[1]); !agreed)
        other = agreed.error();
    });
    Seat seat(network, 0);
    const auto agreed = agree(seat, identities[0], errors[0]);
    second.join();
    EXPECT_EQ(agreed.ok(), !other);
    return agreed.ok() ? std::string() : agreed.error().what;
  };
  const Error wrong{.what = "no file"};
  EXPECT_EQ(asked({"a", "a"}, {{}, {}}), "");
  EXPECT_THAT(asked({"a", "b"}, {{}, {}}), testing::HasSubstr("another program"));
  EXPECT_EQ(asked({"a", "a"}, {{}, wrong}), "process 1: no file");
  EXPECT_EQ(asked({"a", "a"}, {wrong, wrong}), "no file");
}

}  // namespace
}  // namespace isoscope::explore
