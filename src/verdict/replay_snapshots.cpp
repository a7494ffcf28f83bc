// Witnesses over co, snap that are too large for the literal evaluator: read by read, claim by
// claim, with a binary search for who came last.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/digraph.h"
#include "spec/statements.h"
#include "verdict/confirm.h"

namespace isoscope {

namespace {

constexpr std::uint32_t kNowhere = 0xffffffffU;

class SnapshotReplay {
 public:
  SnapshotReplay(const History& h, const Assignment& levels, const Witness& witness)
      : h_(h), levels_(levels), w_(witness), facts_(h), position_(h.num_txns(), kNowhere) {}

  std::optional<std::string> run(Budget& budget) {
    if (auto complaint = check_order()) return complaint;
    index_rows();
    for (TxnId t : h_.txns()) {
      if (budget.expired()) return std::nullopt;
      if (!h_.is_present(t) || t == kInitialTxn) continue;
      const Level* level = &levels_.of(t);
      auto rules = rules_.find(level);
      if (rules == rules_.end()) rules = rules_.emplace(level, *snap_rules_of(*level)).first;
      if (auto complaint = check_txn(t, rules->second)) return complaint;
      is_serial_ = is_serial_ || rules->second.serial;
    }
    return is_serial_ ? check_serial() : std::nullopt;
  }

 private:
  // Positions in co of those who claim a row in a mode, ascending.
  struct Row {
    std::vector<std::uint32_t> exclusive;
    std::vector<std::uint32_t> shared;
    std::vector<std::uint32_t> writers;
  };

  std::string say(TxnId t, std::string_view what) const {
    return fmt::format("{}: {}", h_.name(t), what);
  }

  std::optional<std::string> check_order() {
    std::size_t present = 0;
    for (TxnId t : h_.txns()) present += h_.is_present(t) ? 1 : 0;
    if (w_.order.size() != present || w_.order.front() != kInitialTxn ||
        w_.snap.size() != h_.num_events())
      return "co or snap has the wrong size";
    for (std::uint32_t i = 0; i < w_.order.size(); ++i) {
      std::uint32_t& position = position_[w_.order[i].index];
      if (!h_.is_present(w_.order[i]) || position != kNowhere) return "co has a transaction twice";
      position = i;
    }
    for (const VersionEdge& edge : h_.version_edges()) {
      if (!in_order(edge.before, edge.after)) return say(edge.after, "against the version order");
    }
    for (const auto& [before, after] : facts_.known_order()) {
      if (!in_order(before, after)) return say(after, "against the numbers of commits");
    }
    return std::nullopt;
  }

  bool in_order(TxnId a, TxnId b) const { return position_[a.index] < position_[b.index]; }

  void index_rows() {
    rows_.resize(h_.num_rows());
    keys_.resize(h_.num_keys());
    for (std::uint32_t i = 0; i < w_.order.size(); ++i) {
      const TxnId t = w_.order[i];
      const auto add = [i](std::vector<std::uint32_t>& list) {
        if (list.empty() || list.back() != i) list.push_back(i);
      };
      for (EventId e : h_.events(t)) {
        if (!h_.is_write(e)) continue;
        Row& row = rows_[h_.row(h_.key(e)).index];
        if (!h_.is_insert(e)) add(row.exclusive);
        if (h_.is_committed(t)) add(row.writers);
      }
      for (const RowLock& lock : h_.locks(t)) {
        if (lock.mode == LockMode::Exclusive) add(rows_[lock.row.index].exclusive);
        if (lock.mode == LockMode::Share) add(rows_[lock.row.index].shared);
      }
    }
    for (KeyId x : h_.keys()) {
      for (TxnId t : h_.writers(x)) keys_[x.index].push_back(position_[t.index]);
      std::sort(keys_[x.index].begin(), keys_[x.index].end());
    }
  }

  // The last of `list` before `end`, as a length of snapshot that has it; 0 if there is none.
  static std::uint32_t needed(const std::vector<std::uint32_t>& list, std::uint32_t end) {
    const auto after = std::lower_bound(list.begin(), list.end(), end);
    return after == list.begin() ? 0 : *std::prev(after) + 1;
  }

  std::optional<std::string> check_txn(TxnId t, const SnapRules& rules) {
    const std::uint32_t own = position_[t.index];
    const EventId none = EventId::none();
    EventId before = none;        // the read before, in po
    EventId plain_before = none;  // the plain one
    std::uint32_t session = 0;    // what snapshots need because of the session
    std::uint32_t seen = 0;       // … of what statements before read
    std::uint32_t read_now = 0;   // … of what the statement at hand reads, from the next one on
    if (const TxnId last = session_before(t); !last.is_none()) {
      if (!in_order(last, t)) return say(t, "against session order");
      session = position_[last.index] + 1;
    }
    const std::uint32_t updated = rules.first_updater ? needed_by_rows(t, own) : 0;
    const std::uint32_t conflict = rules.conflict ? needed_by_keys(t, own) : 0;
    for (EventId e : h_.events(t)) {
      if (!h_.is_read(e)) continue;
      const std::uint32_t length = w_.snap[e.index];
      const bool current = facts_.is_current(e);
      if (length == 0 || length > own) return say(t, "a snapshot that is no beginning of co");
      if (h_.is_external_read(e)) {
        const std::uint32_t end = current ? own : length;
        const auto& writers = keys_[h_.key(e).index];
        if (needed(writers, end) != position_[h_.writer(e).index] + 1)
          return say(t, "a read does not show the last writer");
        for (TxnId u : h_.also_shown(e)) {
          if (u != t && position_[u.index] >= end) return say(t, "a list shows too much");
        }
      }
      if (before != none && h_.statement(before) != h_.statement(e))
        seen = std::max(seen, read_now);
      const bool is_first_plain = !current && plain_before == none;
      if ((rules.seen || (rules.first_seen && is_first_plain)) && length < seen)
        return say(t, "a snapshot lacks what a statement before it read");
      if (h_.is_external_read(e)) read_now = std::max(read_now, position_[h_.writer(e).index] + 1);
      if (before != none) {
        const std::uint32_t last = w_.snap[before.index];
        if (h_.statement(before) == h_.statement(e) && last != length)
          return say(t, "a statement with two snapshots");
        if (rules.monotone && last > length) return say(t, "snapshots go backwards");
        if (rules.one && last != length) return say(t, "two snapshots");
      }
      if (rules.plain_one && !current && plain_before != none &&
          w_.snap[plain_before.index] != length)
        return say(t, "two snapshots of plain reads");
      if (rules.session && length < session) return say(t, "a snapshot lacks its session");
      if (rules.latest && length != own) return say(t, "a snapshot lacks a commit before");
      if (length < updated || length < conflict)
        return say(t, "a snapshot lacks an earlier writer");
      const bool waits = rules.waits || (rules.first_waits && is_first_plain);
      if (waits && length < needed_by_locks(t, own, h_.statement(e)))
        return say(t, "a snapshot lacks the transaction for which a lock waited");
      before = e;
      if (!current) plain_before = e;
    }
    return std::nullopt;
  }

  TxnId session_before(TxnId t) const {
    TxnId last = TxnId::none();
    const auto all = h_.session_txns(h_.session(t));
    for (auto u = std::lower_bound(all.begin(), all.end(), t); u != all.begin();) {
      --u;
      if (!h_.is_present(*u)) continue;
      last = *u;
      break;
    }
    return last;
  }

  std::uint32_t needed_by_rows(TxnId t, std::uint32_t own) const {
    std::uint32_t length = 0;
    const auto add = [&](RowId row) {
      length = std::max(length, needed(rows_[row.index].writers, own));
    };
    for (EventId e : h_.events(t)) {
      if (h_.is_write(e) && !h_.is_insert(e)) add(h_.row(h_.key(e)));
    }
    for (const RowLock& lock : h_.locks(t)) {
      if (lock.mode != LockMode::KeyShare) add(lock.row);
    }
    return length;
  }

  std::uint32_t needed_by_keys(TxnId t, std::uint32_t own) const {
    std::uint32_t length = 0;
    for (EventId e : h_.events(t)) {
      if (h_.is_write(e) && h_.writes(t, h_.key(e)))
        length = std::max(length, needed(keys_[h_.key(e).index], own));
    }
    return length;
  }

  // What the locks of statements before this one had to wait for.
  std::uint32_t needed_by_locks(TxnId t, std::uint32_t own, std::uint32_t statement) const {
    std::uint32_t length = 0;
    const auto add = [&](RowId row, bool exclusive) {
      length = std::max(length, needed(rows_[row.index].exclusive, own));
      if (exclusive) length = std::max(length, needed(rows_[row.index].shared, own));
    };
    for (EventId e : h_.events(t)) {
      if (h_.is_write(e) && !h_.is_insert(e) && h_.statement(e) < statement)
        add(h_.row(h_.key(e)), true);
    }
    for (const RowLock& lock : h_.locks(t)) {
      if (lock.mode != LockMode::KeyShare && lock.statement < statement)
        add(lock.row, lock.mode == LockMode::Exclusive);
    }
    return length;
  }

  // Do the dependencies of committed transactions have a cycle?
  std::optional<std::string> check_serial() const {
    const auto counts = [&](TxnId t) { return t != kInitialTxn && h_.is_committed(t); };
    const auto each = [&](const auto& add) {
      for (TxnId t : h_.txns()) {
        if (!counts(t)) continue;
        TxnId last = session_before(t);
        while (!last.is_none() && !counts(last)) last = session_before(last);
        if (!last.is_none()) add(last.index, t.index);
        for (EventId e : h_.events(t)) {
          if (!h_.is_external_read(e)) continue;
          if (counts(h_.writer(e))) add(h_.writer(e).index, t.index);
          for (TxnId u : h_.also_shown(e)) {
            if (u != t && counts(u)) add(u.index, t.index);
          }
          const auto& writers = keys_[h_.key(e).index];
          const auto next =
              std::upper_bound(writers.begin(), writers.end(), position_[h_.writer(e).index]);
          if (next != writers.end() && w_.order[*next] != t) add(t.index, w_.order[*next].index);
        }
      }
      for (const auto& writers : keys_) {
        for (std::size_t i = 1; i < writers.size(); ++i) {
          if (writers[i - 1] != 0) add(w_.order[writers[i - 1]].index, w_.order[writers[i]].index);
        }
      }
    };
    if (strongly_connected_components(Digraph::of(h_.num_txns(), each)).are_single())
      return std::nullopt;
    return "dependencies have a cycle";
  }

  const History& h_;
  const Assignment& levels_;
  const Witness& w_;
  StatementFacts facts_;
  std::vector<std::uint32_t> position_;
  std::vector<Row> rows_;
  std::vector<std::vector<std::uint32_t>> keys_;
  std::map<const Level*, SnapRules> rules_;
  bool is_serial_ = false;
};

}  // namespace

std::optional<std::string> replay_snapshots(const History& h, const Assignment& levels,
                                            const Witness& witness, Budget budget) {
  return SnapshotReplay(h, levels, witness).run(budget);
}

}  // namespace isoscope
