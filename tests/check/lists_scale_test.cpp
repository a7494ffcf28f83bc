// List-append histories as Jepsen logs them, through the reader of Elle's format: 100,000
// transactions, and some hundred with reads that are out of date, against grounded texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "check/check.h"
#include "formats/formats.h"
#include "support/rng.h"

namespace isoscope {
namespace {

struct ListPlan {
  std::size_t txns = 100;
  std::size_t sessions = 5;
  std::size_t keys = 20;
  double stale = 0;  // share of reads that miss the last append or the last two
  std::uint64_t seed = 1;
};

// A serial store of lists that logs in EDN.
class ListLog {
 public:
  explicit ListLog(const ListPlan& plan)
      : plan_(plan), rng_(plan.seed), lists_(plan.keys + kExtraKeys) {
    for (std::size_t i = 0; i < plan.txns; ++i) {
      if (i == plan.txns / 2) middle_ = log_.size();
      run(rng_.below(plan.sessions));
    }
  }

  const std::string& text() const { return log_; }
  // With more lines in the middle. They use only keys that nobody else does.
  std::string with(std::string_view lines) const {
    return log_.substr(0, middle_) + std::string(lines) + log_.substr(middle_);
  }
  // A key for that, from 0 to 1.
  std::size_t extra_key(std::size_t i) const { return plan_.keys + i; }

 private:
  static constexpr std::size_t kExtraKeys = 2;

  void run(std::size_t session) {
    begin(session);
    std::vector<std::size_t> appended;
    for (int op = 0; op < 4; ++op) {
      const std::size_t key = rng_.below(plan_.keys);
      const bool is_own = std::find(appended.begin(), appended.end(), key) != appended.end();
      if (rng_.chance(0.5)) {
        lists_[key].push_back(++last_value_);
        appended.push_back(key);
        fmt::format_to(std::back_inserter(log_), " [:append {} {}]", key, last_value_);
      } else {
        std::size_t size = lists_[key].size();
        if (!is_own && rng_.chance(plan_.stale)) size -= std::min(size, 1 + rng_.below(2));
        const auto end = lists_[key].begin() + static_cast<std::ptrdiff_t>(size);
        fmt::format_to(std::back_inserter(log_), " [:r {} [{}]]", key,
                       fmt::join(lists_[key].begin(), end, " "));
      }
    }
    log_ += " ]}\n";
  }
  void begin(std::size_t session) {
    fmt::format_to(std::back_inserter(log_), "{{:type :ok, :process {}, :f :txn, :value [",
                   session);
  }

  ListPlan plan_;
  Rng rng_;
  std::vector<std::vector<std::int64_t>> lists_;
  std::int64_t last_value_ = 0;
  std::string log_;
  std::size_t middle_ = 0;
};

History parse(std::string_view text) {
  auto h = parse_history(text, Format::Elle);
  if (!h) ADD_FAILURE() << h.error().what;
  return *std::move(h);
}

Verdict verdict_on(const History& h, std::string_view name, Engine engine = Engine::Best) {
  Budget budget = Budget::seconds(100);
  return check(h, **LevelSet::built_in().find(name), budget, {.engine = engine}).verdict;
}

constexpr std::string_view kLevels[] = {"rc", "ra", "cc", "pc", "ua", "psi", "si", "ser"};

TEST(Lists, OfAHundredThousandTransactionsAreSerializable) {
  const ListLog log({.txns = 100'000, .sessions = 50, .keys = 20'000});
  const History h = parse(log.text());
  ASSERT_EQ(h.num_txns(), 100'001U);
  for (const std::string_view level : kLevels)
    EXPECT_EQ(verdict_on(h, level).outcome, Outcome::Consistent) << level;
}

TEST(Lists, OfAHundredThousandTransactionsHideNoLostUpdate) {
  const ListLog log({.txns = 100'000, .sessions = 50, .keys = 20'000});
  const std::size_t x = log.extra_key(0);
  const History h = parse(log.with(
      fmt::format("{{:type :ok, :process 1, :f :txn, :value [[:r {0} []] [:append {0} 1]]}}\n"
                  "{{:type :ok, :process 2, :f :txn, :value [[:r {0} []] [:append {0} 2]]}}\n"
                  "{{:type :ok, :process 3, :f :txn, :value [[:r {0} [1 2]]]}}\n",
                  x)));
  for (const std::string_view level : {"rc", "ra", "cc", "pc"})
    EXPECT_EQ(verdict_on(h, level).outcome, Outcome::Consistent) << level;
  for (const std::string_view level : {"ua", "psi", "si", "ser"}) {
    const Verdict verdict = verdict_on(h, level);
    ASSERT_EQ(verdict.outcome, Outcome::Violated) << level;
    EXPECT_EQ(verdict.violation->anomaly, Anomaly::LostUpdate) << level;
    EXPECT_EQ(verdict.violation->cycle.size(), 2U) << level;
  }
}

TEST(Lists, OfAHundredThousandTransactionsHideNoLongFork) {
  const ListLog log({.txns = 100'000, .sessions = 50, .keys = 20'000});
  const History h = parse(log.with(
      fmt::format("{{:type :ok, :process 1, :f :txn, :value [[:append {0} 1]]}}\n"
                  "{{:type :ok, :process 2, :f :txn, :value [[:append {1} 2]]}}\n"
                  "{{:type :ok, :process 3, :f :txn, :value [[:r {0} [1]] [:r {1} []]]}}\n"
                  "{{:type :ok, :process 4, :f :txn, :value [[:r {0} []] [:r {1} [2]]]}}\n",
                  log.extra_key(0), log.extra_key(1))));
  for (const std::string_view level : {"rc", "ra", "cc", "ua", "psi"})
    EXPECT_EQ(verdict_on(h, level).outcome, Outcome::Consistent) << level;
  for (const std::string_view level : {"pc", "si", "ser"}) {
    const Verdict verdict = verdict_on(h, level);
    ASSERT_EQ(verdict.outcome, Outcome::Violated) << level;
    EXPECT_EQ(verdict.violation->anomaly, Anomaly::LongFork) << level;
  }
}

TEST(Lists, WithStaleReadsAreJudgedAsTheTextsOfTheLevelsSay) {
  std::size_t violated = 0;
  std::size_t consistent = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const ListLog log({.txns = 120,
                       .sessions = 3 + seed % 6,
                       .keys = 30 + 10 * (seed % 4),
                       .stale = 0.004 * static_cast<double>(seed % 5),
                       .seed = seed});
    const History h = parse(log.text());
    for (const std::string_view level : kLevels) {
      const Outcome best = verdict_on(h, level).outcome;
      EXPECT_NE(best, Outcome::Unknown);
      EXPECT_EQ(best, verdict_on(h, level, Engine::Ground).outcome)
          << level << ", seed " << seed << "\n"
          << log.text();
      ++(best == Outcome::Violated ? violated : consistent);
    }
  }
  // Neither answer is rare.
  EXPECT_GT(violated, 40U);
  EXPECT_GT(consistent, 40U);
}

}  // namespace
}  // namespace isoscope
