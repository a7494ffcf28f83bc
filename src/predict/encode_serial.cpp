// "No serial order", as clauses over how far each session is.
#include <algorithm>
#include <set>

#include "predict/encode.h"

namespace isoscope::predict {

Lit Encoder::reads_from(TxnId t, TxnId w) {
  const auto [found, is_new] = reads_from_.try_emplace({t, w});
  if (is_new) {
    found->second = solver_.new_var();
    std::vector<Lit> because = {~found->second};
    for (const ChoiceId c : facts_.choices_of(t)) {
      const std::vector<TxnId>& writers = facts_.choices()[c].writers;
      if (std::binary_search(writers.begin(), writers.end(), w)) because.push_back(sees(c, w));
    }
    add(std::move(because));
  }
  return found->second;
}

Lit Encoder::overwrites(TxnId t, TxnId u, TxnId w) {
  const auto [found, is_new] = overwrites_.try_emplace({t, u, w});
  if (!is_new) return found->second;
  const Lit lit = solver_.new_var();
  found->second = lit;
  std::vector<Lit> because = {~lit};
  for (const ChoiceId c : facts_.choices_of(u)) {
    const Choice& choice = facts_.choices()[c];
    if (!h_.writes(t, choice.key)) continue;
    if (!std::binary_search(choice.writers.begin(), choice.writers.end(), w)) continue;
    if (!stops()) {
      because.push_back(sees(c, w));
      continue;
    }
    const Lit both = solver_.new_var();
    add({~both, sees(c, w)});
    add({~both, writes(t, choice.key)});
    because.push_back(both);
  }
  add(std::move(because));
  return lit;
}

std::vector<Lit> Encoder::blockers(TxnId t, std::span<const std::uint32_t> frontier) {
  const auto is_placed = [&](TxnId u) {
    return u == kInitialTxn || facts_.position(u) < frontier[facts_.session_of(u)];
  };
  std::vector<Lit> found;
  for (const TxnId w : sources_[t.index]) {
    if (!is_placed(w)) found.push_back(reads_from(t, w));
  }
  for (const auto& [u, w] : overwriting_[t.index]) {
    if (is_placed(w) && !is_placed(u)) found.push_back(overwrites(t, u, w));
  }
  return found;
}

void Encoder::collect_writers() {
  std::vector<std::set<std::pair<TxnId, TxnId>>> overwriting(h_.num_txns());
  std::vector<std::set<TxnId>> sources(h_.num_txns());
  is_writer_.assign(h_.num_txns(), 0);
  num_writers_before_.assign(h_.num_txns(), 0);
  for (const Choice& choice : facts_.choices()) {
    for (const TxnId w : choice.writers) {
      if (is_late()) return;
      if (w != kInitialTxn) {
        sources[choice.txn.index].insert(w);
        is_writer_[w.index] = 1;
      }
      for (const TxnId t : facts_.writers(choice.key)) {
        if (t == choice.txn || t == w) continue;
        overwriting[t.index].insert({choice.txn, w});
        is_writer_[t.index] = 1;
      }
    }
  }
  for (std::size_t t = 0; t < h_.num_txns(); ++t) {
    sources_[t].assign(sources[t].begin(), sources[t].end());
    overwriting_[t].assign(overwriting[t].begin(), overwriting[t].end());
  }
  for (const std::vector<TxnId>& session : facts_.sessions()) {
    std::vector<TxnId> writers;
    for (const TxnId t : session) {
      num_writers_before_[t.index] = static_cast<std::uint32_t>(writers.size());
      if (is_writer_[t.index] != 0) writers.push_back(t);
    }
    writers_.push_back(std::move(writers));
  }
}

void Encoder::add_waiting(TxnId t, std::span<const std::uint32_t> frontier,
                          std::vector<Lit>& clause) {
  const std::vector<TxnId>& session = facts_.sessions()[facts_.session_of(t)];
  for (std::uint32_t i = facts_.position(t) + 1; i-- > 0;) {
    const TxnId u = session[i];
    if (u != t && is_writer_[u.index] != 0) break;
    for (const TxnId w : sources_[u.index]) {
      if (!is_placed_writer(w, frontier)) clause.push_back(reads_from(u, w));
    }
  }
}

std::vector<Lit> Encoder::writer_blockers(TxnId t, std::span<const std::uint32_t> frontier) {
  std::vector<Lit> found;
  add_waiting(t, frontier, found);
  std::map<TxnId, Lit> waiting;  // by reader
  for (const auto& [u, w] : overwriting_[t.index]) {
    if (!is_placed_writer(w, frontier)) continue;
    const std::uint32_t reached = frontier[facts_.session_of(u)];
    const std::uint32_t before = num_writers_before_[u.index];
    if (is_writer_[u.index] != 0 ? before >= reached : before > reached) {
      found.push_back(overwrites(t, u, w));
      continue;
    }
    // A reader is there as soon as none before it in its session waits. In t's own session, that
    // blocks t anyway.
    if (is_writer_[u.index] != 0 || before < reached ||
        facts_.session_of(u) == facts_.session_of(t))
      continue;
    const auto [known, is_new] = waiting.try_emplace(u);
    if (is_new) {
      known->second = solver_.new_var();
      std::vector<Lit> because = {~known->second};
      add_waiting(u, frontier, because);
      add(std::move(because));
    }
    const Lit both = solver_.new_var();
    add({~both, overwrites(t, u, w)});
    add({~both, known->second});
    found.push_back(both);
  }
  return found;
}

void Encoder::encode_frontiers() {
  collect_writers();
  if (is_over()) return;
  double estimate = 0;
  for (const std::vector<TxnId>& session : writers_) {
    double blockers = 0;
    for (const TxnId t : session)
      blockers += static_cast<double>(sources_[t.index].size() + overwriting_[t.index].size()) / 2;
    estimate += 3 + blockers / static_cast<double>(std::max<std::size_t>(1, session.size()));
  }
  std::size_t num_frontiers = 1;
  for (const std::vector<TxnId>& session : writers_) {
    num_frontiers *= session.size() + 1;
    if (static_cast<double>(num_frontiers) * estimate > kMaxFrontierLiterals) {
      is_exact_ = false;
      return;
    }
  }
  const std::size_t before = num_literals_;
  std::vector<Lit> reachable(num_frontiers);
  for (Lit& lit : reachable) lit = solver_.new_var();
  add({reachable.front()});
  std::vector<std::uint32_t> frontier(writers_.size(), 0);
  for (std::size_t f = 0; f < num_frontiers && !is_over(); ++f) {
    std::vector<Lit> not_the_end = {~reachable[f]};
    std::size_t step = 1;
    for (std::size_t s = 0; s < writers_.size(); ++s) {
      if (frontier[s] < writers_[s].size()) {
        const TxnId t = writers_[s][frontier[s]];
        not_the_end.push_back(present(t));
        std::vector<Lit> clause = writer_blockers(t, frontier);
        clause.insert(clause.end(), {~reachable[f], ~present(t), reachable[f + step]});
        add(std::move(clause));
      }
      step *= writers_[s].size() + 1;
    }
    add(std::move(not_the_end));
    num_frontier_literals_ = num_literals_ - before;
    for (std::size_t s = 0; s < writers_.size(); ++s) {
      if (frontier[s] < writers_[s].size()) {
        ++frontier[s];
        break;
      }
      frontier[s] = 0;
    }
  }
}

void Encoder::exclude_order(std::span<const TxnId> order) {
  std::vector<Lit> clause;
  std::vector<std::uint32_t> frontier(facts_.sessions().size(), 0);
  for (const TxnId t : order) {
    if (is_over()) return;
    const std::vector<Lit> blocked = blockers(t, frontier);
    clause.insert(clause.end(), blocked.begin(), blocked.end());
    clause.push_back(~present(t));
    ++frontier[facts_.session_of(t)];
  }
  for (std::size_t s = 0; s < frontier.size(); ++s) {
    if (frontier[s] < facts_.sessions()[s].size())
      clause.push_back(present(facts_.sessions()[s][frontier[s]]));
  }
  std::sort(clause.begin(), clause.end());
  clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  add(std::move(clause));
}

}  // namespace isoscope::predict
