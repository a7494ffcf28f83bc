// Levels about single reads, against all histories of small scopes: a transaction is a sequence of
// reads, each of a key from a writer, and then a set of written keys.
#include <gtest/gtest.h>

#include "history/builder.h"
#include "synth/level_profiles.h"

namespace isoscope {
namespace {

constexpr int kReads = 2;  // of a transaction, at most

struct Program {
  std::vector<std::pair<int, int>> reads;  // key and writer, 0 for T0
  std::vector<bool> writes;                // by key

  bool is_empty() const {
    return reads.empty() && std::find(writes.begin(), writes.end(), true) == writes.end();
  }
};

// All that a transaction can do in a history of so many transactions.
std::vector<Program> all_programs(int txns, int keys) {
  std::vector<Program> programs;
  const int choices = 1 + keys * (txns + 1);  // no read, or a key and a writer
  for (int first = 0; first < choices; ++first) {
    for (int second = 0; second < choices; ++second) {
      if (first == 0 && second != 0) continue;  // the same as the other way round
      for (int writes = 0; writes < 1 << keys; ++writes) {
        Program p;
        for (const int read : {first, second}) {
          if (read != 0) p.reads.emplace_back((read - 1) / (txns + 1), (read - 1) % (txns + 1));
        }
        for (int x = 0; x < keys; ++x) p.writes.push_back((writes >> x & 1) != 0);
        if (!p.is_empty()) programs.push_back(std::move(p));
      }
    }
  }
  return programs;
}

// Nobody reads from itself, or what is not written.
bool makes_sense(const std::vector<const Program*>& txns) {
  for (std::size_t t = 0; t < txns.size(); ++t) {
    for (const auto& [x, writer] : txns[t]->reads) {
      if (writer == 0) continue;
      const auto s = static_cast<std::size_t>(writer - 1);
      if (s == t || !txns[s]->writes[static_cast<std::size_t>(x)]) return false;
    }
  }
  return true;
}

History build(const std::vector<const Program*>& txns, const std::vector<int>& session) {
  HistoryBuilder b(InitialValues::Zero);
  for (std::size_t t = 0; t < txns.size(); ++t) {
    const TxnId id = b.begin(b.session(session[t]), TxnStatus::Committed, {});
    for (const auto& [x, writer] : txns[t]->reads) b.read(id, b.key(x), Value::of(writer), {});
    for (std::size_t x = 0; x < txns[t]->writes.size(); ++x) {
      if (txns[t]->writes[x])
        b.write(id, b.key(static_cast<int>(x)), Value::of(static_cast<int>(t) + 1), {});
    }
  }
  return *std::move(b).build();
}

// Sessions as chains in which transactions ascend; programs take all names.
std::vector<std::vector<int>> all_sessions(int txns) {
  if (txns == 2) return {{0, 0}, {0, 1}};
  return {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2}};
}

void compare_with_brute_force(int txns, int keys) {
  Levels levels;
  for (const auto& each : LevelSet::built_in().all()) {
    if (require_plain(*each, "synth")) levels.push_back(each.get());
  }
  Profiles profiles(levels);
  const std::vector<Program> programs = all_programs(txns, keys);
  std::vector<const Program*> chosen;
  const std::function<void()> choose = [&] {
    if (static_cast<int>(chosen.size()) < txns) {
      for (const Program& p : programs) {
        chosen.push_back(&p);
        choose();
        chosen.pop_back();
      }
      return;
    }
    if (!makes_sense(chosen)) return;
    for (const auto& session : all_sessions(txns)) profiles.add(build(chosen, session));
  };
  choose();
  // The others are compared without reads in order, in all_histories_test.cpp.
  Separated with_rc;
  for (const auto& [pair, separated] : profiles.separated()) {
    if (pair.first->name == "rc" || pair.second->name == "rc") with_rc[pair] = separated;
  }
  const Scope scope{.txns = txns, .keys = keys, .reads = kReads};
  expect_same(with_rc, scope, false);
  expect_same(with_rc, scope, true);
}

TEST(SynthesizeOrderedReads, AgreesWithAllHistoriesOfTwoTransactionsAndOneKey) {
  compare_with_brute_force(2, 1);
}

TEST(SynthesizeOrderedReads, AgreesWithAllHistoriesOfTwoTransactionsAndTwoKeys) {
  compare_with_brute_force(2, 2);
}

TEST(SynthesizeOrderedReads, AgreesWithAllHistoriesOfThreeTransactionsAndOneKey) {
  compare_with_brute_force(3, 1);
}

}  // namespace
}  // namespace isoscope
