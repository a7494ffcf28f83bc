#include "races/triangles.h"

#include <algorithm>
#include <set>

namespace isoscope::races {
namespace {

// Who reads a key without holding its row, and who touches it.
struct KeyUse {
  std::vector<RunTxn> unprotected;
  std::vector<RunTxn> touching;
};

class CycleFinder {
 public:
  CycleFinder(const Run& run, PgLevel level) : run_(run), level_(level) {}

  bool find() {
    if (level_ == PgLevel::Serializable) return false;
    read_uses();
    connect();
    find_components();
    ById<RunTxn, bool> has_out(run_.txns.size());
    ById<RunTxn, bool> has_in(run_.txns.size());
    for (const KeyId x : uses_.ids()) {
      for (const RunTxn t : uses_[x].unprotected) {
        for (const RunTxn u : run_.keys[x].writers) {
          if (u == t || component_[t] != component_[u] || !is_vulnerable(t, u)) continue;
          if (level_ == PgLevel::ReadCommitted) return true;
          has_out[t] = has_in[u] = true;
          if (has_in[t] || has_out[u]) return true;
        }
      }
    }
    return false;
  }

 private:
  // At READ COMMITTED, is T placed in the order of commits by its commit, and not by its only
  // snapshot?
  bool has_own_commit(RunTxn t) const {
    const auto& statements = run_.txns[t].statements;
    return statements.size() > 1 ||
           std::ranges::any_of(statements, [](const Statement& s) { return !s.writes.empty(); });
  }

  bool is_vulnerable(RunTxn t, RunTxn u) const {
    if (level_ == PgLevel::ReadCommitted) return has_own_commit(t);
    return std::ranges::none_of(written_[t], [&](RowId row) { return written_[u].contains(row); });
  }

  void read_uses() {
    uses_.resize(run_.keys.size());
    written_.resize(run_.txns.size());
    for (const RunTxn t : run_.txns.ids()) {
      std::map<RowId, LockMode> held;  // by row
      for (const Statement& statement : run_.txns[t].statements) {
        for (const Lock& lock : statement.locks) {
          if (lock.until != kNothing) continue;
          LockMode& mode = held.try_emplace(lock.row, lock.mode).first->second;
          mode = std::max(mode, lock.mode);
        }
        for (const Read& read : statement.reads) {
          add(uses_[read.key].touching, t);
          if (!is_protected(read.key, held)) add(uses_[read.key].unprotected, t);
        }
        for (const Write& write : statement.writes) {
          add(uses_[write.key].touching, t);
          written_[t].insert(run_.keys[write.key].row);
        }
      }
    }
  }

  // KEY SHARE keeps a row from being deleted, FOR SHARE and more from being changed.
  bool is_protected(KeyId x, const std::map<RowId, LockMode>& held) const {
    const Key& key = run_.keys[x];
    const auto lock = held.find(key.row);
    return lock != held.end() && (lock->second != LockMode::KeyShare || key.kind == KeyKind::Row);
  }

  static void add(std::vector<RunTxn>& list, RunTxn t) {
    if (list.empty() || list.back() != t) list.push_back(t);
  }

  // Edges of the graph of transactions that meet, as far as the components need them.
  void connect() {
    std::set<std::pair<RunTxn, RunTxn>> edges;
    for (const KeyId x : uses_.ids()) {
      const auto& writers = run_.keys[x].writers;
      for (std::size_t i = 0; i < std::min<std::size_t>(writers.size(), 2); ++i) {
        for (const RunTxn t : uses_[x].touching) {
          if (t != writers[i]) edges.insert(std::minmax(t, writers[i]));
        }
      }
    }
    graph_.resize(run_.txns.size());
    for (const auto& [t, u] : edges) {
      graph_[t].push_back(u);
      graph_[u].push_back(t);
    }
  }

  // Components without bridges, by depth-first search: `low` is the earliest transaction that can
  // be reached from below without the edge by which one came.
  void find_components() {
    constexpr std::size_t kUnseen = kNothing;
    const std::size_t size = run_.txns.size();
    component_.assign(size, RunTxn::none());
    ById<RunTxn, std::size_t> order(size, kUnseen);
    ById<RunTxn, std::size_t> low(size, 0);
    std::vector<RunTxn> open;  // seen, and in no component yet
    std::size_t next = 0;
    struct Frame {
      RunTxn t;
      RunTxn from;
      std::size_t edge = 0;
    };
    for (const RunTxn root : run_.txns.ids()) {
      if (order[root] != kUnseen) continue;
      std::vector<Frame> frames = {{root, RunTxn::none()}};
      while (!frames.empty()) {
        Frame& frame = frames.back();
        const RunTxn t = frame.t;
        if (frame.edge == 0) {
          order[t] = low[t] = next++;
          open.push_back(t);
        }
        if (frame.edge < graph_[t].size()) {
          const RunTxn u = graph_[t][frame.edge++];
          if (u == frame.from) continue;  // edges are distinct: there is no second one
          if (order[u] == kUnseen) {
            frames.push_back({u, t});
          } else {
            low[t] = std::min(low[t], order[u]);
          }
          continue;
        }
        const RunTxn from = frame.from;
        frames.pop_back();
        if (!from.is_none()) low[from] = std::min(low[from], low[t]);
        if (low[t] != order[t]) continue;
        for (RunTxn member = RunTxn::none(); member != t;) {
          member = open.back();
          open.pop_back();
          component_[member] = t;
        }
      }
    }
  }

  const Run& run_;
  PgLevel level_;
  ById<KeyId, KeyUse> uses_;
  ById<RunTxn, std::set<RowId>> written_;
  ById<RunTxn, std::vector<RunTxn>> graph_;
  ById<RunTxn, RunTxn> component_;  // by one of its members
};

}  // namespace

bool may_have_longer_cycle(const Run& run, PgLevel level) { return CycleFinder(run, level).find(); }

}  // namespace isoscope::races
