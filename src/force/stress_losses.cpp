// Commits that the server reported to random clients and that are lost.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "force/stress_client.h"

namespace isoscope::force {
namespace {

constexpr std::size_t kMostLosses = 10;  // that are reported

// What the rows hold in the end, by row: a value, or the elements of a list.
std::unordered_map<StressRow, std::vector<std::int64_t>> rows_in_the_end(
    const std::vector<std::unique_ptr<StressClient>>& clients) {
  std::unordered_map<StressRow, std::vector<std::int64_t>> rows;
  for (const auto& client : clients)
    for (const StressTxn& txn : client->txns)
      if (txn.looks_at_end && txn.status == TxnStatus::Committed)
        for (const StressOp& op : txn.ops) rows.try_emplace(op.row, op.seen);
  return rows;
}

}  // namespace

std::vector<std::string> lost_commits(const std::vector<std::unique_ptr<StressClient>>& clients,
                                      const StressOptions& options) {
  std::vector<std::string> lost;
  const auto rows = rows_in_the_end(clients);
  if (rows.empty()) return lost;
  const bool is_list = options.workload == StressWorkload::List;
  std::unordered_map<std::int64_t, std::int64_t> before;  // the value that a write has overwritten
  for (const auto& client : clients)
    for (const StressTxn& txn : client->txns)
      for (const StressOp& op : txn.ops)
        if (op.kind == StressOp::Kind::Write && !op.seen.empty())
          before.try_emplace(op.written, op.seen.back());
  std::unordered_set<std::int64_t> kept;
  std::unordered_set<StressRow> unclear;  // rows with an earlier value that no client reported
  for (const auto& [row, values] : rows) {
    kept.insert(values.begin(), values.end());
    for (std::int64_t value = values.empty() ? 0 : values.back(); !is_list && value > 0;) {
      kept.insert(value);
      const auto known = before.find(value);
      if (known == before.end()) unclear.insert(row);
      value = known == before.end() ? 0 : known->second;
    }
  }
  std::size_t more = 0;
  for (std::size_t c = 0; c < clients.size(); ++c) {
    for (const StressTxn& txn : clients[c]->txns) {
      if (txn.status != TxnStatus::Committed || txn.ended == 0) continue;
      const auto gone = std::ranges::find_if(txn.ops, [&](const StressOp& op) {
        return op.kind == StressOp::Kind::Write && rows.contains(op.row) &&
               !unclear.contains(op.row) && !kept.contains(op.written);
      });
      if (gone == txn.ops.end()) continue;
      if (lost.size() == kMostLosses) {
        ++more;
        continue;
      }
      lost.push_back(
          fmt::format("the server told client c{} that its {} {} {} t[{}] is committed, and "
                      "what the row holds in the end does not come after it",
                      c + 1, is_list ? "append of" : "write of", gone->written,
                      is_list ? "to" : "into", gone->row.index));
    }
  }
  if (more > 0) lost.push_back(fmt::format("and {} more", more));
  return lost;
}

}  // namespace isoscope::force
