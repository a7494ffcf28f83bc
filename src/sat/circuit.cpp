#include "sat/circuit.h"

#include <algorithm>
#include <array>

#include "support/assert.h"

namespace isoscope {
namespace {

constexpr std::uint32_t kFree = 0;  // in the table: node 0 is the constant, never a gate
constexpr std::size_t kFirstTableSize = 1024;

}  // namespace

std::uint64_t Circuit::hash_of(std::span<const Signal> sorted) {
  std::uint64_t hash = sorted.size();
  for (const Signal s : sorted) {
    hash = (hash ^ s.code_) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  return hash;
}

Circuit::Circuit() : nodes_(1), table_(kFirstTableSize, kFree) {}

Signal Circuit::input() {
  Node node;
  node.lit = solver_.new_var();
  nodes_.push_back(node);
  return Signal(static_cast<std::uint32_t>(nodes_.size() - 1) << 1U);
}

Signal Circuit::input(bool first_guess) {
  const Signal s = input();
  const Lit lit = nodes_.back().lit;
  solver_.set_phase(first_guess ? lit : ~lit);
  return s;
}

Signal Circuit::conj(std::span<const Signal> signals) {
  scratch_.clear();
  for (const Signal s : signals) {
    if (s.is_false()) return kFalse;
    if (!s.is_true()) scratch_.push_back(s);
  }
  return gate_of_scratch();
}

Signal Circuit::disj(std::span<const Signal> signals) {
  scratch_.clear();
  for (const Signal s : signals) {
    if (s.is_true()) return kTrue;
    if (!s.is_false()) scratch_.push_back(!s);
  }
  return !gate_of_scratch();
}

Signal Circuit::iff(Signal a, Signal b) { return conj({implies(a, b), implies(b, a)}); }

Signal Circuit::gate_of_scratch() {
  if (watches_gates_ && (cut_short_ || budget_->expired())) {
    cut_short_ = true;
    return kTrue;
  }
  std::sort(scratch_.begin(), scratch_.end());
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
  // A signal and its negation are neighbours in this order.
  for (std::size_t i = 1; i < scratch_.size(); ++i) {
    if (scratch_[i] == !scratch_[i - 1]) return kFalse;
  }
  if (scratch_.empty()) return kTrue;
  if (scratch_.size() == 1) return scratch_.front();

  if ((gates_ + 1) * 2 > table_.size()) grow_table();
  std::uint32_t& slot = slot_of(scratch_);
  if (slot == kFree) {
    ISO_ASSERT(nodes_.size() < (std::size_t{1} << 31U) &&
               inputs_.size() < 0xffffffffU - scratch_.size());
    Node node;
    node.begin = static_cast<std::uint32_t>(inputs_.size());
    node.size = static_cast<std::uint32_t>(scratch_.size());
    inputs_.insert(inputs_.end(), scratch_.begin(), scratch_.end());
    slot = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
    ++gates_;
  }
  return Signal(slot << 1U);
}

std::uint32_t& Circuit::slot_of(std::span<const Signal> sorted) {
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash_of(sorted) & mask;
  while (table_[i] != kFree) {
    const auto known = inputs_of(nodes_[table_[i]]);
    if (std::equal(known.begin(), known.end(), sorted.begin(), sorted.end())) break;
    i = (i + 1) & mask;
  }
  return table_[i];
}

void Circuit::grow_table() {
  table_.assign(table_.size() * 2, kFree);
  for (std::uint32_t n = 1; n < nodes_.size(); ++n) {
    if (nodes_[n].size != 0) slot_of(inputs_of(nodes_[n])) = n;
  }
}

Lit Circuit::literal_of_node(Signal s) {
  Node& node = nodes_[s.node()];
  if (!node.lit.is_valid()) node.lit = solver_.new_var();
  return s.is_negated() ? ~node.lit : node.lit;
}

Lit Circuit::literal(Signal s) {
  const Node& node = nodes_[s.node()];
  const std::uint8_t direction = s.is_negated() ? kWhenFalse : kWhenTrue;
  if (node.size != 0 && (node.defined & direction) == 0) {
    nodes_[s.node()].defined |= direction;
    pending_.push_back(s);
  }
  return literal_of_node(s);
}

// Writes the definitions that literal() found missing, and those that these need in turn.
void Circuit::define(Signal s) {
  if (s.is_constant()) return;
  literal(s);
  while (!pending_.empty()) {
    if (budget_ != nullptr && budget_->expired()) {
      cut_short_ = true;
      pending_.clear();
      return;
    }
    const Signal gate = pending_.back();
    pending_.pop_back();
    const Node node = nodes_[gate.node()];
    const Lit own = literal_of_node(gate);
    if (log_ != nullptr) record_gate(gate);
    if (gate.is_negated()) {
      clause_.assign(1, ~own);
      for (std::uint32_t i = 0; i < node.size; ++i)
        clause_.push_back(literal(!inputs_[node.begin + i]));
      add_definition(clause_);
    } else {
      for (std::uint32_t i = 0; i < node.size; ++i)
        add_definition(std::array{~own, literal(inputs_[node.begin + i])});
    }
  }
}

void Circuit::record_gate(Signal gate) {
  const Node node = nodes_[gate.node()];
  std::vector<Lit> inputs;
  for (std::uint32_t i = 0; i < node.size; ++i)
    inputs.push_back(literal_of_node(inputs_[node.begin + i]));
  log_->define(node.lit, std::move(inputs));
}

void Circuit::add_definition(std::span<const Lit> clause) {
  solver_.add_clause(clause);
  if (log_ != nullptr) log_->add_definition(clause);
}

void Circuit::add_demand(std::span<const Lit> clause) {
  solver_.add_clause(clause);
  if (log_ != nullptr) log_->add(clause);
}

void Circuit::require(Signal s) {
  std::vector<Signal> stack = {s};
  while (!stack.empty()) {
    const Signal top = stack.back();
    stack.pop_back();
    if (top.is_constant()) {
      if (top.is_false()) add_demand({});
      continue;
    }
    Node& node = nodes_[top.node()];
    bool& done = top.is_negated() ? node.required_false : node.required_true;
    if (done) continue;
    done = true;
    const std::span<const Signal> inputs = inputs_of(node);
    if (inputs.empty()) {
      add_demand(std::array{literal_of_node(top)});
    } else if (!top.is_negated()) {
      stack.insert(stack.end(), inputs.begin(), inputs.end());
    } else {
      for (const Signal input : inputs) define(!input);
      clause_.clear();
      for (const Signal input : inputs) clause_.push_back(literal_of_node(!input));
      add_demand(clause_);
    }
  }
}

SatResult Circuit::solve(std::span<const Signal> assumptions, Budget& budget) {
  std::vector<Lit> lits;
  impossible_ = false;
  for (const Signal s : assumptions) {
    impossible_ |= s.is_false();
    if (s.is_constant()) continue;
    define(s);
    lits.push_back(literal_of_node(s));
  }
  if (cut_short_) return SatResult::Unknown;
  return impossible_ ? SatResult::Unsat : solver_.solve(lits, budget);
}

bool Circuit::failed(Signal assumption) const {
  if (impossible_ || assumption.is_constant()) return assumption.is_false();
  const Lit lit = nodes_[assumption.node()].lit;
  return solver_.failed(assumption.is_negated() ? ~lit : lit);
}

bool Circuit::value(Signal s) const {
  if (s.is_constant()) return s.is_true();
  if (is_input(s)) return solver_.value(nodes_[s.node()].lit) != s.is_negated();
  enum : std::uint8_t { kOpen, kNo, kYes };
  std::vector<std::uint8_t> known(s.node() + 1, kOpen);
  known[0] = kYes;
  std::vector<std::uint32_t> stack = {s.node()};
  while (!stack.empty()) {
    const std::uint32_t n = stack.back();
    const Node& node = nodes_[n];
    bool all = node.size != 0 || solver_.value(node.lit);
    bool waits = false;
    for (const Signal input : inputs_of(node)) {
      if (known[input.node()] == kOpen) {
        stack.push_back(input.node());
        waits = true;
      }
      all &= (known[input.node()] == kYes) != input.is_negated();
    }
    if (waits) continue;
    known[n] = all ? kYes : kNo;
    stack.pop_back();
  }
  return (known[s.node()] == kYes) != s.is_negated();
}

}  // namespace isoscope
