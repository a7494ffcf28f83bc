// List-append histories against a reference that shares no code with the checker: every element
// that a list shows was read, all commit orders are tried, and the levels are said anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "check/check.h"
#include "history/builder.h"
#include "support/rng.h"

namespace isoscope {
namespace {

struct ListOp {
  bool is_append = false;
  int key = 0;
  int element = 0;         // of an append; each is appended once
  std::vector<int> shown;  // of a read
};
struct ListTxn {
  int session = 0;
  bool is_aborted = false;
  std::vector<ListOp> ops;
};
using Lists = std::vector<ListTxn>;  // transaction i of the history is at i - 1

std::string show(const Lists& lists) {
  std::string out;
  for (const ListTxn& t : lists) {
    out += "s" + std::to_string(t.session) + ": [";
    for (const ListOp& op : t.ops) {
      out += op.is_append ? " a(" : " r(";
      out += std::string(1, static_cast<char>('x' + op.key)) + ",";
      if (op.is_append) out += std::to_string(op.element);
      for (int v : op.shown) out += " " + std::to_string(v);
      out += ")";
    }
    out += t.is_aborted ? " ]!\n" : " ]\n";
  }
  return out;
}

History history_from(const Lists& lists) {
  HistoryBuilder b(InitialValues::Nil);
  for (const ListTxn& txn : lists) {
    const TxnStatus status = txn.is_aborted ? TxnStatus::Aborted : TxnStatus::Committed;
    const TxnId t = b.begin(b.session(txn.session), status, {1, 1});
    for (const ListOp& op : txn.ops) {
      const KeyId x = b.key(op.key);
      if (op.is_append) {
        b.append(t, x, Value::of(op.element), {1, 1});
      } else {
        std::vector<Value> shown;
        for (int v : op.shown) shown.push_back(Value::of(v));
        b.read_list(t, x, shown, {1, 1});
      }
    }
  }
  auto h = std::move(b).build();
  EXPECT_TRUE(h.ok());
  return *std::move(h);
}

// Lists grow in one true order; reads show a beginning of it and what their transaction appended,
// now and then with a mistake.
Lists random_lists(Rng& rng) {
  const int txns = 2 + static_cast<int>(rng.below(3));
  const int keys = 1 + static_cast<int>(rng.below(2));
  std::vector<std::vector<std::pair<int, int>>> truth(2);  // element, transaction
  Lists lists(static_cast<std::size_t>(txns));
  int element = 0;
  for (int t = 0; t < txns; ++t) {
    ListTxn& txn = lists[static_cast<std::size_t>(t)];
    txn.session = static_cast<int>(rng.below(3));
    txn.is_aborted = txns > 2 && rng.chance(0.15);
    const auto ops = 1 + rng.below(4);
    for (std::uint64_t i = 0; i < ops; ++i) {
      ListOp op;
      op.key = static_cast<int>(rng.below(static_cast<std::uint64_t>(keys)));
      op.is_append = rng.chance(0.5);
      if (op.is_append) {
        op.element = ++element;
        if (txn.is_aborted && rng.chance(0.95)) {  // else others read what it took back
          txn.ops.push_back(op);
          continue;
        }
        auto& list = truth[static_cast<std::size_t>(op.key)];
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(rng.below(list.size() + 1)),
                    {op.element, t});
      }
      txn.ops.push_back(op);
    }
  }
  for (int t = 0; t < txns; ++t) {
    std::map<int, std::vector<int>> own;
    for (ListOp& op : lists[static_cast<std::size_t>(t)].ops) {
      if (op.is_append) {
        own[op.key].push_back(op.element);
        continue;
      }
      const auto& list = truth[static_cast<std::size_t>(op.key)];
      const std::size_t size = rng.below(list.size() + 1);
      for (std::size_t i = 0; i < size; ++i) {
        if (list[i].second != t || rng.chance(0.1)) op.shown.push_back(list[i].first);
      }
      if (rng.chance(0.95)) op.shown.insert(op.shown.end(), own[op.key].begin(), own[op.key].end());
    }
  }
  return lists;
}

class ListReference {
 public:
  explicit ListReference(const Lists& lists)
      : n_(static_cast<int>(lists.size()) + 1), lists_(lists) {
    for (int t = 1; t < n_; ++t) {
      for (const ListOp& op : ops(t)) {
        if (op.is_append) appender_[op.element] = t;
        if (op.is_append && !is_aborted(t)) writers_[op.key].insert(t);
      }
    }
    for (auto& [key, writers] : writers_) writers.insert(0);
    understand_reads();
  }

  bool satisfies(const std::string& level) const {
    if (faulty_) return false;
    std::vector<int> order(static_cast<std::size_t>(n_));
    std::iota(order.begin(), order.end(), 0);
    do {
      if (order[0] == 0 && allows(level, order)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

 private:
  using Pairs = std::set<std::pair<int, int>>;
  struct Read {
    int reader;
    int key;
    int from;             // whose version: of the last element that is not its own
    std::size_t place;    // in the transaction
    std::set<int> shown;  // whose elements
  };

  const std::vector<ListOp>& ops(int t) const {
    return lists_[static_cast<std::size_t>(t - 1)].ops;
  }
  bool is_aborted(int t) const {
    return t != 0 && lists_[static_cast<std::size_t>(t - 1)].is_aborted;
  }
  // What others may have seen, too: not the last elements, if an aborted reader appended them.
  std::vector<int> common_part(int t, const ListOp& op) const {
    std::vector<int> part = op.shown;
    while (is_aborted(t) && !part.empty() && appender_.at(part.back()) == t) part.pop_back();
    return part;
  }
  bool so(int a, int b) const {
    if (a == 0) return b != 0;
    return a < b && lists_[static_cast<std::size_t>(a - 1)].session ==
                        lists_[static_cast<std::size_t>(b - 1)].session;
  }

  void understand_reads() {
    std::map<int, std::vector<int>> longest;
    for (int t = 1; t < n_; ++t) {
      for (const ListOp& op : ops(t)) {
        const std::vector<int> part = common_part(t, op);
        if (!op.is_append && part.size() > longest[op.key].size()) longest[op.key] = part;
      }
    }
    for (auto& [key, list] : longest) {
      if (std::set<int>(list.begin(), list.end()).size() != list.size()) faulty_ = true;
      std::set<int> ordered = {0};
      int last = 0;
      for (int v : list) {
        if (last != appender_[v]) versions_.emplace(last, appender_[v]);
        ordered.insert(last = appender_[v]);
      }
      for (int w : writers_[key]) {
        if (!ordered.contains(w)) versions_.emplace(last, w);
      }
    }
    for (int t = 1; t < n_; ++t) {
      for (std::size_t i = 0; i < ops(t).size(); ++i) {
        if (!ops(t)[i].is_append) understand(t, i, longest);
      }
    }
  }

  void understand(int t, std::size_t place, std::map<int, std::vector<int>>& longest) {
    const ListOp& op = ops(t)[place];
    const auto& list = longest[op.key];
    const std::vector<int> part = common_part(t, op);
    if (!std::equal(part.begin(), part.end(), list.begin())) faulty_ = true;
    std::vector<int> expected;  // its own elements, at the end
    for (std::size_t i = 0; i < place; ++i) {
      if (ops(t)[i].is_append && ops(t)[i].key == op.key) expected.push_back(ops(t)[i].element);
    }
    std::vector<int> own;
    Read read{.reader = t, .key = op.key, .from = 0, .place = place, .shown = {}};
    int last = 0;
    for (int v : op.shown) {
      if (appender_[v] == t) {
        own.push_back(v);
      } else {
        if (!own.empty()) faulty_ = true;  // an own element among those of others
        if (is_aborted(appender_[v])) faulty_ = true;
        last = v;
        read.from = appender_[v];
        read.shown.insert(read.from);
      }
    }
    if (own != expected) faulty_ = true;  // of the future, or not what it appended
    for (const ListOp& other : read.from == 0 ? std::vector<ListOp>{} : ops(read.from)) {
      // An intermediate version: its writer appends more.
      if (other.is_append && other.key == op.key && other.element > last) faulty_ = true;
    }
    for (std::size_t i = 0; i < op.shown.size(); ++i) {
      // Appends of one transaction stand together, in its order.
      const int writer = appender_[op.shown[i]];
      int before = 0;
      int after = 0;
      for (const ListOp& other : ops(writer)) {
        if (!other.is_append || other.key != op.key) continue;
        if (other.element < op.shown[i]) before = other.element;
        if (other.element > op.shown[i] && after == 0) after = other.element;
      }
      if (before != 0 && (i == 0 || op.shown[i - 1] != before)) faulty_ = true;
      const bool goes_on = i + 1 < op.shown.size();
      if (after != 0 && writer != t && goes_on && op.shown[i + 1] != after) faulty_ = true;
    }
    reads_.push_back(std::move(read));
  }

  bool allows(const std::string& level, const std::vector<int>& order) const {
    std::vector<int> at(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      at[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    const auto co = [&](int a, int b) {
      return at[static_cast<std::size_t>(a)] < at[static_cast<std::size_t>(b)];
    };
    Pairs facts;  // so and wr
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) {
        if (so(a, b)) facts.emplace(a, b);
      }
    }
    for (const Read& r : reads_) {
      for (int u : r.shown) facts.emplace(u, r.reader);
    }
    Pairs ordered = facts;
    ordered.insert(versions_.begin(), versions_.end());
    for (const auto& [a, b] : ordered) {
      if (!co(a, b)) return false;
    }
    Pairs ww;
    for (const auto& [key, writers] : writers_) {
      for (int a : writers) {
        for (int b : writers) {
          if (co(a, b)) ww.emplace(a, b);
        }
      }
    }
    const Pairs sees = view(level, facts, ww, co);
    for (const Read& r : reads_) {
      const auto written = writers_.find(r.key);
      if (written == writers_.end()) continue;
      for (int t2 : written->second) {
        if (t2 == r.from) continue;
        const bool seen = level == "rc" ? has_read(r, t2) : sees.contains({t2, r.reader});
        if (seen && !co(t2, r.from)) return false;
      }
    }
    return true;
  }

  bool has_read(const Read& r, int t2) const {
    return std::any_of(reads_.begin(), reads_.end(), [&](const Read& s) {
      return s.reader == r.reader && s.place < r.place && s.shown.contains(t2);
    });
  }

  template <class Co>
  Pairs view(const std::string& level, const Pairs& facts, const Pairs& ww, const Co& co) const {
    Pairs sees = facts;
    if (level == "ua" || level == "psi" || level == "si") sees.insert(ww.begin(), ww.end());
    if (level == "ser") {
      for (int a = 0; a < n_; ++a) {
        for (int b = 0; b < n_; ++b) {
          if (co(a, b)) sees.emplace(a, b);
        }
      }
    }
    const bool closed = level == "cc" || level == "psi";
    const bool prefix = level == "pc" || level == "si";
    for (std::size_t size = 0; size != sees.size();) {
      size = sees.size();
      Pairs more;
      for (const auto& [b, c] : sees) {
        for (int a = 0; a < n_; ++a) {
          if ((closed && sees.contains({a, b})) || (prefix && co(a, b))) more.emplace(a, c);
        }
      }
      sees.insert(more.begin(), more.end());
    }
    return sees;
  }

  int n_;
  const Lists& lists_;
  std::map<int, int> appender_;           // by element
  std::map<int, std::set<int>> writers_;  // by key, T0 among them
  std::vector<Read> reads_;
  Pairs versions_;
  bool faulty_ = false;
};

TEST(Lists, AreJudgedAsIfEveryShownElementWereRead) {
  constexpr int kCases = 4'000;
  Rng rng(20261);
  std::map<std::string, int> violated;
  for (int i = 0; i < kCases; ++i) {
    const Lists lists = random_lists(rng);
    const History h = history_from(lists);
    const ListReference reference(lists);
    for (const std::string name : {"rc", "ra", "cc", "pc", "ua", "psi", "si", "ser"}) {
      Budget budget;
      const Level& level = **LevelSet::built_in().find(name);
      const CheckAnswer answer = check(h, level, budget);
      const bool expected = reference.satisfies(name);
      ASSERT_EQ(answer.verdict.outcome, expected ? Outcome::Consistent : Outcome::Violated)
          << "case " << i << " at " << name << "\n"
          << show(lists) << answer.verdict.limit;
      violated[name] += expected ? 0 : 1;
      if (i % 8 == 0) {
        EXPECT_EQ(check(h, level, budget, {.engine = Engine::Ground}).verdict.outcome,
                  answer.verdict.outcome)
            << "ground, case " << i << " at " << name << "\n"
            << show(lists);
      }
    }
  }
  // Neither answer is the rule.
  for (const auto& [name, count] : violated) {
    EXPECT_GT(count, kCases / 20) << name;
    EXPECT_LT(count, kCases * 19 / 20) << name;
  }
}

}  // namespace
}  // namespace isoscope
