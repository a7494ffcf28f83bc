#pragma once
// Random small histories with statements, locks, aborts and numbers of commits, as jsonl text.
//
// Values are read as a hidden serial order would show them, but for some that are any committed
// writer's; no read is inexcusable. Keys are x, y and two columns of a row.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "formats/jsonl.h"
#include "support/assert.h"
#include "support/input.h"
#include "support/rng.h"

namespace isoscope {

struct RandomStatementShape {
  int max_txns = 4;
  int max_statements = 3;
  int max_reading = 6;    // statements that read, of all transactions
  double numbered = 0.3;  // share of histories with numbers of commits
};

inline std::string random_statements(Rng& rng, const RandomStatementShape& shape = {}) {
  static const std::vector<std::string> kKeys = {"x", "y", "t[1].a", "t[1].b"};
  struct RandomOp {
    std::string kind;  // r w i l ls lk
    std::size_t key = 0;
    int value = 0;
  };
  struct Txn {
    std::size_t session = 0;
    bool aborted = false;
    std::vector<std::vector<RandomOp>> statements;
  };
  const auto up_to = [&](int n) {
    return 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(n)));
  };
  const std::size_t keys = rng.chance(0.3) ? 4 : 2;
  const auto key = [&] { return static_cast<std::size_t>(rng.below(keys)); };
  std::vector<Txn> txns(static_cast<std::size_t>(1 + up_to(shape.max_txns - 1)));
  int reading = 0;
  int next = 1;
  const std::size_t sessions = 1 + rng.below(3);
  for (Txn& txn : txns) {
    txn.session = rng.below(sessions);
    txn.aborted = rng.chance(0.1);
    const int statements = up_to(shape.max_statements);
    for (int i = 0; i < statements; ++i) {
      std::vector<RandomOp> ops;
      const std::size_t x = key();
      const bool reads = reading < shape.max_reading && !rng.chance(0.3);
      if (reads) {
        ++reading;
        ops.push_back({"r", x});
        if (rng.chance(0.25)) ops.push_back({"r", key()});
      }
      const std::size_t target = rng.chance(0.8) ? x : key();
      const double kind = static_cast<double>(rng.below(100)) / 100;
      if (kind < 0.4 || (!reads && kind < 0.6)) {
        ops.push_back({"w", target, next++});
      } else if (kind < 0.5) {
        ops.push_back({"l", target});
      } else if (kind < 0.58) {
        ops.push_back({"ls", target});
      } else if (kind < 0.62) {
        ops.push_back({"lk", target});
      } else if (kind < 0.74) {
        ops.push_back({"i", target, next++});
      }
      if (!ops.empty()) txn.statements.push_back(std::move(ops));
    }
    if (txn.statements.empty()) txn.statements.push_back({{"w", key(), next++}});
  }
  std::vector<std::vector<int>> finals(keys, {0});  // what committed transactions leave
  std::vector<int> visible(keys, 0);                // along the hidden order
  for (const Txn& txn : txns) {
    if (txn.aborted) continue;
    std::vector<int> last(keys, 0);
    for (const auto& statement : txn.statements) {
      for (const RandomOp& op : statement) {
        if (op.kind == "w" || op.kind == "i") last[op.key] = op.value;
      }
    }
    for (std::size_t x = 0; x < keys; ++x) {
      if (last[x] != 0) finals[x].push_back(last[x]);
    }
  }
  for (Txn& txn : txns) {
    std::vector<int> own(keys, 0);
    std::vector<int> mine;
    for (auto& statement : txn.statements) {
      for (RandomOp& op : statement) {
        if (op.kind == "w" || op.kind == "i") mine.push_back(op.value);
      }
    }
    for (auto& statement : txn.statements) {
      for (RandomOp& op : statement) {
        if (op.kind == "w" || op.kind == "i") own[op.key] = op.value;
        if (op.kind != "r") continue;
        if (own[op.key] != 0) {
          op.value = own[op.key];
          continue;
        }
        op.value = visible[op.key];
        if (!rng.chance(0.4)) continue;
        const int other = finals[op.key][rng.below(finals[op.key].size())];
        if (std::find(mine.begin(), mine.end(), other) == mine.end()) op.value = other;
      }
    }
    if (txn.aborted) continue;
    for (std::size_t x = 0; x < keys; ++x) {
      if (own[x] != 0) visible[x] = own[x];
    }
  }
  std::string out = "{\"format\":\"isoscope-history/1\"}\n";
  const bool numbered = rng.chance(shape.numbered);
  for (std::size_t t = 0; t < txns.size(); ++t) {
    std::string ops;
    for (const auto& statement : txns[t].statements) {
      std::string group;
      for (const RandomOp& op : statement) {
        group += fmt::format("{}[\"{}\",\"{}\"", group.empty() ? "" : ",", op.kind, kKeys[op.key]);
        group += op.kind[0] == 'l' ? "]" : fmt::format(",{}]", op.value);
      }
      ops += fmt::format("{}[{}]", ops.empty() ? "" : ",", group);
    }
    out += fmt::format("{{\"session\":\"s{}\",\"id\":\"T{}\",\"status\":\"{}\",\"ops\":[{}]",
                       txns[t].session + 1, t + 1, txns[t].aborted ? "aborted" : "committed", ops);
    // A few transactions of a numbered run have none: their commits were not recorded.
    if (numbered && !txns[t].aborted && !rng.chance(0.1))
      out += fmt::format(",\"commit\":{}", t + 1);
    out += "}\n";
  }
  return out;
}

inline History jsonl_of(const std::string& text) {
  LineReader in = LineReader::over(text);
  auto h = read_jsonl(in);
  if (!h) std::fprintf(stderr, "%s\n%s", render(h.error()).c_str(), text.c_str());
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

// How many cases a random test runs: ISOSCOPE_FUZZ_SHARE is percent of what it runs by itself.
inline std::uint64_t cases(std::uint64_t usual) {
  const char* share = std::getenv("ISOSCOPE_FUZZ_SHARE");
  return share == nullptr ? usual : usual * std::strtoull(share, nullptr, 10) / 100 + 1;
}

}  // namespace isoscope
