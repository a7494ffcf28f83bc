#include "explore/level_witness.h"

#include <algorithm>

#include "store/forced_order.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {

template <class Set>
LevelWitness<Set>::LevelWitness(std::shared_ptr<const LevelRules> rules, std::size_t num_calls,
                                Budget& budget)
    : rules_(std::move(rules)),
      size_(narrow(num_calls + 1)),
      budget_(budget),
      all_(Txns::of(kInitialTxn)),
      so_(size_),
      wr_(size_),
      values_(rules_->relations.size()),
      bound_(static_cast<std::size_t>(rules_->num_slots)),
      bound_keys_(bound_.size(), nullptr) {
  State first{.order = Rows(size_), .sight = {}, .line = {kInitialTxn}};
  if (rules_->framework == Framework::VisAr) first.sight.resize(size_);
  states_.push_back(std::move(first));
}

template <class Set>
bool LevelWitness<Set>::push(const Block<Set>& block, const Set& before, const Trail<Set>& trail) {
  const TxnId t = txn_of(block.call);
  Pushed& pushed = pushed_.emplace_back(Pushed{.element = t}).value();
  so_[t] = Txns::of(kInitialTxn);
  before.for_each([&](CallId call) {
    if (all_.contains(txn_of(call))) so_[t].insert(txn_of(call));
  });
  wr_[t] = {};
  const auto key_of = [&](ProgramKey x) -> Key& {
    Key& key = keys_[x];
    if (key.from.empty()) {
      key.from.resize(size_);
      key.writers.insert(kInitialTxn);
    }
    return key;
  };
  trail.for_each_read(block, [&](ProgramKey x, CallId from, std::uint32_t) {
    Key& key = key_of(x);
    const TxnId writer = txn_of(from);
    key.readers.insert(t);
    key.from[t].insert(writer);
    wr_[t].insert(writer);
    pushed.read.push_back(x);
  });
  if (block.is_committed) {
    for (const WriteEvent& write : trail.writes_of(block)) {
      key_of(write.key).writers.insert(t);
      pushed.written.push_back(write.key);
    }
  } else {
    aborted_.insert(t);
  }
  if (!pushed.read.empty()) readers_.insert(t);
  all_.insert(t);
  ++facts_;
  choose_keys();

  State state = states_.back();
  const Txns past = so_[t] | wr_[t];
  ForcedOrder<Txns>(state.order).append(t, past);
  if (!state.sight.empty()) state.sight[t] = past;
  std::vector<TxnId> hint = state.line;
  hint.push_back(t);
  const bool is_possible = close(state) && can_order(state, hint);
  states_.push_back(std::move(state));
  return is_possible;
}

template <class Set>
void LevelWitness<Set>::pop() {
  states_.pop_back();
  const std::optional<Pushed> pushed = std::move(pushed_.back());
  pushed_.pop_back();
  if (!pushed) return;
  const TxnId t = pushed->element;
  for (const ProgramKey x : pushed->read) {
    const auto found = keys_.find(x);
    if (found == keys_.end()) continue;  // it has read it twice
    found->second.readers.erase(t);
    found->second.from[t] = {};
  }
  for (const ProgramKey x : pushed->written) {
    if (const auto found = keys_.find(x); found != keys_.end()) found->second.writers.erase(t);
  }
  // Keys that no call accesses any more belong to no history.
  const auto drop = [&](const std::vector<ProgramKey>& keys) {
    for (const ProgramKey x : keys) {
      const auto found = keys_.find(x);
      if (found != keys_.end() && found->second.readers.empty() &&
          found->second.writers == Txns::of(kInitialTxn))
        keys_.erase(found);
    }
  };
  drop(pushed->read);
  drop(pushed->written);
  all_.erase(t);
  aborted_.erase(t);
  readers_.erase(t);
  ++facts_;
}

template <class Set>
void LevelWitness<Set>::choose_keys() {
  chosen_.clear();
  for (const auto& entry : keys_) {
    const Key& key = entry.second;
    const bool is_known =
        std::ranges::any_of(chosen_, [&](const Key* other) { return *other == key; });
    if (!is_known) chosen_.push_back(&key);
  }
}

// Adds what is forced. False if that is a contradiction, or if the budget expires.
template <class Set>
bool LevelWitness<Set>::close(State& state) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    ++round_;
    if (budget_.expired()) return false;
    for (const ForcingRule& rule : rules_->rules) {
      if (!bind_keys(rule, 0, state, has_changed)) return false;
    }
  }
  return true;
}

template <class Set>
bool LevelWitness<Set>::bind_keys(const ForcingRule& rule, std::size_t next, State& state,
                                  bool& has_changed) {
  if (next == rule.keys.size()) return bind(rule, 0, state, has_changed);
  for (const Key* key : chosen_) {
    bound_keys_[static_cast<std::size_t>(rule.keys[next])] = key;
    if (!bind_keys(rule, next + 1, state, has_changed)) return false;
  }
  return true;
}

template <class Set>
bool LevelWitness<Set>::bind(const ForcingRule& rule, std::size_t next, State& state,
                             bool& has_changed) {
  if (next == rule.steps.size()) return conclude(rule, state, has_changed);
  const ForcingRule::Step& step = rule.steps[next];
  Txns candidates = all_;
  if (rule.subject == step.txn) {
    all_.for_each([&](TxnId t) {
      if (!rule.has_axiom[t]) candidates.erase(t);
    });
  }
  for (const RuleAtom& atom : step.atoms) {
    keep(atom, step.txn, state, candidates);
    if (candidates.empty()) return true;
  }
  bool is_possible = true;
  candidates.for_each([&](TxnId t) {
    if (!is_possible) return;
    bound_[static_cast<std::size_t>(step.txn)] = t;
    is_possible = bind(rule, next + 1, state, has_changed);
  });
  return is_possible;
}

// Those of the candidates for a variable that make the atom true.
template <class Set>
void LevelWitness<Set>::keep(const RuleAtom& atom, int txn, const State& state, Txns& candidates) {
  const auto other = [&](int slot) { return bound_[static_cast<std::size_t>(slot)]; };
  switch (atom.kind) {
    case RuleAtom::Kind::Writes:
      candidates &= bound_keys_[static_cast<std::size_t>(atom.b)]->writers;
      return;
    case RuleAtom::Kind::Reads:
      candidates &= bound_keys_[static_cast<std::size_t>(atom.b)]->readers;
      return;
    case RuleAtom::Kind::Equal:
      if (atom.a != atom.b) candidates &= Txns::of(other(atom.a == txn ? atom.b : atom.a));
      return;
    case RuleAtom::Kind::Differ:
      if (atom.a == atom.b) {
        candidates = {};
      } else {
        candidates.erase(other(atom.a == txn ? atom.b : atom.a));
      }
      return;
    case RuleAtom::Kind::Member: break;
  }
  const Rows& rows = value(atom.relation, state);
  if (atom.b != txn) {
    candidates &= rows[other(atom.b)];
    return;
  }
  Txns kept;
  candidates.for_each([&](TxnId t) {
    if (rows[t].contains(atom.a == txn ? t : other(atom.a))) kept.insert(t);
  });
  candidates = kept;
}

template <class Set>
bool LevelWitness<Set>::conclude(const ForcingRule& rule, State& state, bool& has_changed) {
  if (rule.then == ForcingRule::Then::Never) return false;
  const TxnId from = bound_[static_cast<std::size_t>(rule.from)];
  const TxnId to = bound_[static_cast<std::size_t>(rule.to)];
  if (rule.then == ForcingRule::Then::Sight && !state.sight[to].contains(from)) {
    state.sight[to].insert(from);
    has_changed = true;
  }
  return add_before(state, from, to, has_changed);
}

template <class Set>
bool LevelWitness<Set>::add_before(State& state, TxnId from, TxnId to, bool& has_changed) const {
  if (state.order[to].contains(from)) return true;
  if (from == to || state.order[from].contains(to)) return false;
  has_changed = true;
  return ForcedOrder<Txns>(state.order).add(Txns::of(from), to);
}

// Is there an order that contains what is forced and breaks no rule? Keeps the one that was found.
template <class Set>
bool LevelWitness<Set>::can_order(State& state, const std::vector<TxnId>& hint) {
  if (!rules_->asks_order || try_line(state, hint)) return true;
  for (std::size_t i = 0; i < hint.size(); ++i) {
    for (std::size_t j = i + 1; j < hint.size(); ++j) {
      const TxnId a = hint[i];
      const TxnId b = hint[j];
      if (state.order[a].contains(b) || state.order[b].contains(a)) continue;
      bool has_changed = false;
      for (const bool is_first : {true, false}) {
        State more = state;
        if (add_before(more, is_first ? a : b, is_first ? b : a, has_changed) && close(more) &&
            can_order(more, hint)) {
          state.line = std::move(more.line);
          return true;
        }
        if (budget_.expired()) return false;
      }
      return false;
    }
  }
  return false;  // everything is ordered, and a rule is broken
}

// Tries the order that follows the hint as far as it may.
template <class Set>
bool LevelWitness<Set>::try_line(State& state, const std::vector<TxnId>& hint) {
  std::vector<TxnId> line;
  Txns placed;
  while (line.size() < hint.size()) {
    const auto next = std::find_if(hint.begin(), hint.end(), [&](TxnId t) {
      return !placed.contains(t) && state.order[t].is_subset_of(placed);
    });
    line.push_back(*next);
    placed.insert(*next);
  }
  State all = state;
  Txns before;
  for (const TxnId t : line) {
    all.order[t] = before;
    before.insert(t);
  }
  if (!close(all)) return false;
  state.line = std::move(line);
  return true;
}

template <class Set>
auto LevelWitness<Set>::value(int relation, const State& state) -> const Rows& {
  const RuleRelation& node = rules_->relations[static_cast<std::size_t>(relation)];
  Value& value = values_[static_cast<std::size_t>(relation)];
  const Key* key =
      node.keys.empty() ? nullptr : bound_keys_[static_cast<std::size_t>(node.keys.front())];
  const std::uint64_t now = node.is_fact ? facts_ : (std::uint64_t{1} << 63) + round_;
  const bool is_current = value.computed_for == now && value.key == key && node.keys.size() < 2;
  if (!is_current) {
    compute(node, state, value.rows);
    value.computed_for = now;
    value.key = key;
  }
  return value.rows;
}

template <class Set>
auto LevelWitness<Set>::closure(Rows rows) const -> Rows {
  all_.for_each([&](TxnId middle) {
    for (Txns& row : rows) {
      if (row.contains(middle)) row |= rows[middle];
    }
  });
  return rows;
}

template <class Set>
void LevelWitness<Set>::compute(const RuleRelation& relation, const State& state, Rows& out) {
  if (relation.left < 0) return compute_leaf(relation, state, out);
  const Rows left = value(relation.left, state);
  switch (relation.op) {
    case RelationOp::Union:
    case RelationOp::Intersection: {
      const Rows& right = value(relation.right, state);
      out = left;
      for (const TxnId t : out.ids()) {
        if (relation.op == RelationOp::Union) {
          out[t] |= right[t];
        } else {
          out[t] &= right[t];
        }
      }
      return;
    }
    case RelationOp::Compose: {
      const Rows& right = value(relation.right, state);
      out.assign(size_, {});
      all_.for_each(
          [&](TxnId t) { right[t].for_each([&](TxnId middle) { out[t] |= left[middle]; }); });
      return;
    }
    case RelationOp::Inverse:
      out.assign(size_, {});
      all_.for_each([&](TxnId t) { left[t].for_each([&](TxnId from) { out[from].insert(t); }); });
      return;
    case RelationOp::Plus:
    case RelationOp::Star:
      out = closure(left);
      if (relation.op == RelationOp::Star) all_.for_each([&](TxnId t) { out[t].insert(t); });
      return;
    case RelationOp::So:
    case RelationOp::Wr:
    case RelationOp::Co:
    case RelationOp::Vis:
    case RelationOp::Ar:
    case RelationOp::Po:
    case RelationOp::Snap:
    case RelationOp::Of:
    case RelationOp::Same:
    case RelationOp::Waited:
    case RelationOp::Rt:
    case RelationOp::Ww:
    case RelationOp::Rw:
    case RelationOp::IdentityOn:
    case RelationOp::Difference:
    case RelationOp::Maybe: ISO_ASSERT(false);  // a leaf, or refused by rules_of()
  }
}

template <class Set>
void LevelWitness<Set>::compute_leaf(const RuleRelation& relation, const State& state, Rows& out) {
  const Key* key = relation.key < 0 ? nullptr : bound_keys_[static_cast<std::size_t>(relation.key)];
  out.assign(size_, {});
  switch (relation.op) {
    case RelationOp::So: all_.for_each([&](TxnId t) { out[t] = so_[t]; }); return;
    case RelationOp::Wr:
      all_.for_each([&](TxnId t) { out[t] = key == nullptr ? wr_[t] : key->from[t]; });
      return;
    case RelationOp::Vis: all_.for_each([&](TxnId t) { out[t] = state.sight[t]; }); return;
    case RelationOp::Ww:
    case RelationOp::Rw:
      if (key != nullptr) return add_of_key(relation.op, *key, state, out);
      for (const Key* each : chosen_) add_of_key(relation.op, *each, state, out);
      return;
    case RelationOp::IdentityOn: {
      Txns members = relation.set == SetName::Aborted ? aborted_ : readers_;
      if (relation.set == SetName::Writers) {
        members = {};
        for (const Key* each : chosen_) members |= each->writers;
      }
      if (key != nullptr) members = key->writers;
      members.for_each([&](TxnId t) { out[t].insert(t); });
      return;
    }
    case RelationOp::Co:
    case RelationOp::Ar: all_.for_each([&](TxnId t) { out[t] = state.order[t]; }); return;
    case RelationOp::Po:
    case RelationOp::Snap:
    case RelationOp::Of:
    case RelationOp::Same:
    case RelationOp::Waited:
    case RelationOp::Rt:
    case RelationOp::Union:
    case RelationOp::Intersection:
    case RelationOp::Difference:
    case RelationOp::Compose:
    case RelationOp::Inverse:
    case RelationOp::Plus:
    case RelationOp::Star:
    case RelationOp::Maybe: ISO_ASSERT(false);  // has operands, or refused by rules_of()
  }
}

template <class Set>
void LevelWitness<Set>::add_of_key(RelationOp op, const Key& key, const State& state,
                                   Rows& out) const {
  key.writers.for_each([&](TxnId b) {
    const Txns overwritten = key.writers & state.order[b];
    if (op == RelationOp::Ww) {
      out[b] |= overwritten;
      return;
    }
    key.readers.for_each([&](TxnId reader) {
      if (reader != b && key.from[reader].intersects(overwritten)) out[b].insert(reader);
    });
  });
}

template class LevelWitness<TxnSet<1>>;
template class LevelWitness<TxnSet<4>>;

}  // namespace isoscope::explore
