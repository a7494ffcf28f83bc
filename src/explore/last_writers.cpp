#include "explore/last_writers.h"

#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {

template <class Set>
LastWriters<Set>::LastWriters(const Executable& program, const Rules& exact,
                              const EndState<Set>& end, Budget& budget)
    : program_(program),
      rules_(exact),
      end_(end),
      budget_(budget),
      writers_(writers_in(end)),
      block_of_(end.order.size()) {
  for (const Entry& entry : end.order) block_of_[end.trail.blocks[entry.block].call] = entry.block;
  for (const ProgramKey x : program.final_keys()) {
    values_.push_back({.key = x, .value = program.keys().initial(x)});
    const auto found = writers_.find(x);
    if (found == writers_.end()) continue;
    Key key{.number = values_.size() - 1, .writers = found->second};
    const std::int64_t first = value(key.writers.front(), x);
    key.writers.for_each(
        [&](CallId w) { key.has_one_value = key.has_one_value && value(w, x) == first; });
    keys_.push_back(key);
  }
  std::stable_partition(keys_.begin(), keys_.end(),
                        [](const Key& key) { return !key.has_one_value; });
}

template <class Set>
std::int64_t LastWriters<Set>::value(CallId writer, ProgramKey x) const {
  const auto writes = end_.trail.writes_of(end_.trail.blocks[block_of_[writer]]);
  std::size_t i = writes.size();
  while (writes[i - 1].key != x) --i;
  return writes[i - 1].value;
}

template <class Set>
auto LastWriters<Set>::start() const -> Known {
  Known known{.rows = {}, .facts = LinearFacts<Set>(0)};
  if (rules_.is_linear()) {
    known.facts =
        linear_facts(program_, end_, [&](CallId call) { return rules_.has_snapshot(call); });
    if (rules_.strong) return known;
  }
  auto rows = forced_rows(program_, end_, rules_.weak);
  ISO_ASSERT(rows.has_value());  // the history satisfies the level
  known.rows.order = *std::move(rows);
  if (rules_.is_linear()) {
    for (const CallId call : known.rows.order.ids())
      known.facts.add_before(call, known.rows.order[call]);
  }
  if (rules_.sight == SightRule::Ua) {
    known.rows.seen.resize(block_of_.size());
    for (const Entry& entry : end_.order) {
      const Block<Set>& block = end_.trail.blocks[entry.block];
      const ProgramSession session = program_.outline().calls[block.call].session;
      known.rows.seen[block.call] =
          block.read_from | Set::between(program_.outline().sessions[session].first, block.call);
    }
  }
  return known;
}

// Adds that w writes the key last. False if no commit order has that.
template <class Set>
bool LastWriters<Set>::is_last(Known& known, const Key& key, CallId w) {
  Set others = key.writers;
  others.erase(w);
  if (rules_.is_linear()) {
    known.facts.add_before(w, others);
    return linearizer_.is_possible(known.facts, rules_.template txn_rules<Set>(), budget_);
  }
  if (!known.rows.see(others, w)) return false;
  if (!rules_.sight) return true;
  const auto writers = [&](ProgramKey x) {
    const auto found = writers_.find(x);
    return found == writers_.end() ? Set{} : found->second;
  };
  const Sight sight(end_.trail, end_.order, writers, budget_);
  return sight.close(known.rows) && sight.can_order_writers(known.rows);
}

template <class Set>
bool LastWriters<Set>::choose(std::size_t next, const Known& known, const Look& look) {
  if (budget_.expired()) return false;
  if (next == keys_.size()) return look(values_);
  const Key& key = keys_[next];
  bool goes_on = true;
  bool is_done = false;
  key.writers.for_each([&](CallId w) {
    if (!goes_on || is_done) return;
    Known more = known;
    if (!is_last(more, key, w)) return;
    store::FinalValue& final_value = values_[key.number];
    final_value.writer = w;
    final_value.value = value(w, final_value.key);
    goes_on = choose(next + 1, more, look);
    is_done = key.has_one_value;
  });
  return goes_on;
}

template <class Set>
bool LastWriters<Set>::for_each(const Look& look) {
  choose(0, start(), look);
  return !budget_.expired();
}

template class LastWriters<TxnSet<1>>;
template class LastWriters<TxnSet<4>>;

}  // namespace isoscope::explore
