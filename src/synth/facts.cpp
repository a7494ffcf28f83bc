#include "synth/facts.h"

#include <algorithm>

#include "synth/reasons.h"

namespace isoscope::synthesis {

namespace {

std::vector<Signal> merge_counts(Circuit& c, const std::vector<Signal>& a,
                                 const std::vector<Signal>& b) {
  std::vector<Signal> merged;
  for (std::size_t total = 1; total <= a.size() + b.size(); ++total) {
    std::vector<Signal> ways;
    for (std::size_t i = total > b.size() ? total - b.size() : 0; i <= std::min(total, a.size());
         ++i) {
      const Signal from_a = i == 0 ? kTrue : a[i - 1];
      const Signal from_b = total == i ? kTrue : b[total - i - 1];
      ways.push_back(c.conj({from_a, from_b}));
    }
    merged.push_back(c.disj(ways));
  }
  return merged;
}

}  // namespace

std::vector<Signal> sorted_count(Circuit& circuit, const std::vector<Signal>& signals) {
  if (signals.size() <= 1) return signals;
  const auto middle = signals.begin() + static_cast<std::ptrdiff_t>(signals.size() / 2);
  return merge_counts(circuit, sorted_count(circuit, {signals.begin(), middle}),
                      sorted_count(circuit, {middle, signals.end()}));
}

Facts::Facts(Circuit& circuit, const Frame& frame) : circuit_(circuit), frame_(frame) {
  // A guess of false keeps histories small and speeds up the search.
  build([&] { return circuit_.input(false); });
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    circuit_.name(inputs_[i], [&] { return words_of(*this, meanings_[i]); });
}

Facts::Facts(Circuit& circuit, const Frame& frame, const Candidate& candidate)
    : circuit_(circuit), frame_(frame) {
  std::size_t next = 0;
  build([&] { return Signal::constant(candidate[next++]); });
}

Signal Facts::add(const std::function<Signal()>& next, Meaning meaning) {
  inputs_.push_back(next());
  meanings_.push_back(meaning);
  return inputs_.back();
}

void Facts::build(const std::function<Signal()>& next) {
  writes_.assign(index(txns(), 0), kFalse);
  so_ = Matrix(carrier());
  wr_.assign(static_cast<std::size_t>(keys()), Matrix(carrier()));
  for (int x = 0; x < keys(); ++x) {
    writes_[index(0, x)] = kTrue;
    for (int t = 1; t < txns() && !frame_.statements; ++t)
      writes_[index(t, x)] = add(next, {FactKind::Write, t, x, t});
    const auto add_reads = [&](int t, int reader) {
      for (int s = 0; s < txns(); ++s) {
        if (s == t || (frame_.wr_forward && s > t)) continue;
        wr_[static_cast<std::size_t>(x)](s, reader) = add(next, {FactKind::Read, s, x, reader});
      }
    };
    if (frame_.slots == 0) {
      for (int t = 1; t < txns(); ++t) add_reads(t, t);
    } else {
      for (int slot = txns(); slot < carrier(); ++slot) add_reads(txn_of(slot), slot);
    }
  }
  for (int t = 1; t < txns(); ++t) {
    so_(0, t) = kTrue;
    for (int s = 1; s < txns(); ++s) {
      if (s == t || (frame_.so_forward && s > t)) continue;
      so_(s, t) = add(next, {FactKind::So, s, 0, t});
    }
  }
  aborted_.assign(static_cast<std::size_t>(txns()), kFalse);
  for (int t = 1; t < txns() && frame_.aborted_txns; ++t)
    aborted_[static_cast<std::size_t>(t)] = add(next, {FactKind::Aborted, t, 0, t});
  rt_ = Matrix(carrier());
  for (int s = 1; s < txns() && frame_.real_time; ++s) {
    for (int t = 1; t < txns(); ++t) {
      if (s != t) rt_(s, t) = add(next, {FactKind::RealTime, s, 0, t});
    }
  }
  if (frame_.statements) add_operations(next);
  derive();
}

void Facts::derive() {
  Circuit& c = circuit_;
  reads_.assign(index(txns(), 0), kFalse);
  filled_.assign(static_cast<std::size_t>(carrier() - txns()), kFalse);
  any_wr_ = Matrix(carrier());
  for (int slot = txns(); slot < carrier(); ++slot) {
    std::vector<Signal> any;
    for (const Matrix& wr : wr_) {
      for (int s = 0; s < txns(); ++s) any.push_back(wr(s, slot));
    }
    if (frame_.statements) {
      any.push_back(any_of_kind(slot, true));
      any.push_back(any_of_kind(slot, false));
    }
    filled_[static_cast<std::size_t>(slot - txns())] = c.disj(any);
  }
  for (int t = 1; t < txns(); ++t) {
    for (int x = 0; x < keys(); ++x) {
      Matrix& wr = wr_[static_cast<std::size_t>(x)];
      std::vector<Signal> from_any;
      for (int s = 0; s < txns(); ++s) {
        if (frame_.slots > 0) {
          std::vector<Signal> through;
          for (int i = 0; i < frame_.slots; ++i)
            through.push_back(wr(s, txns() + (t - 1) * frame_.slots + i));
          wr(s, t) = c.disj(through);
        }
        from_any.push_back(wr(s, t));
      }
      reads_[index(t, x)] = c.disj(from_any);
    }
  }
  for (int to = 0; to < carrier(); ++to) {
    for (int s = 0; s < txns(); ++s) {
      std::vector<Signal> of_any;
      for (const Matrix& wr : wr_) of_any.push_back(wr(s, to));
      any_wr_(s, to) = c.disj(of_any);
    }
  }
  for (int x = 0; x < keys(); ++x) {
    std::vector<Signal> uses;
    for (int t = 1; t < txns(); ++t) {
      uses.push_back(writes(t, x));
      uses.push_back(reads(t, x));
    }
    used_.push_back(c.disj(uses));
  }
}

Signal Facts::overtakes(int t1, int t2, int t3) const {
  if (t1 == t2) return kFalse;
  std::vector<Signal> by_key;
  for (int x = 0; x < keys(); ++x) by_key.push_back(circuit_.conj({wr(x)(t1, t3), writes(t2, x)}));
  return circuit_.disj(by_key);
}

void Facts::require_scope(bool all_names) const {
  Circuit& c = circuit_;
  const Scope& scope = frame_.scope;
  const auto because = [&](std::string_view words) {
    c.because([&] { return std::string(words); });
  };
  because("history: a read has one writer, in its place");
  require_reads();
  because("history: sessions");
  require_sessions();
  because("history: real time");
  if (frame_.real_time) require_times();
  because("history: statements");
  if (frame_.statements) require_statements();
  because("history: the sizes of the scope, and what aborts writes nothing");
  // A history of nothing but aborted transactions is one that no level speaks about.
  std::vector<Signal> committed;
  for (int t = 1; t < txns(); ++t) committed.push_back(!aborted(t));
  c.require_any(committed);
  for (int t = 1; t < txns(); ++t) {
    std::vector<Signal> operations;
    for (int x = 0; x < keys(); ++x) {
      if (!frame_.statements) operations.push_back(writes(t, x));
      c.require_any({!aborted(t), !writes(t, x)});
      add_read_operations(t, x, operations);
      if (!scope.blind_writes) c.require(c.implies(writes(t, x), reads(t, x)));
    }
    for (int i = 0; i < frame_.slots; ++i)
      operations.push_back(is_filled(txns() + (t - 1) * frame_.slots + i));
    if (!scope.empty_txns) c.require_any(operations);
    if (scope.ops > 0 && static_cast<std::size_t>(scope.ops) < operations.size())
      c.require(!sorted_count(c, operations)[static_cast<std::size_t>(scope.ops)]);
  }
  for (int x = 0; x < keys() && scope.values > 0 && scope.values <= scope.txns; ++x) {
    std::vector<Signal> writers;
    for (int t = 1; t < txns(); ++t) writers.push_back(writes(t, x));
    c.require(!sorted_count(c, writers)[static_cast<std::size_t>(scope.values - 1)]);
  }
  because("names: keys are named in the order in which they are used");
  if (!all_names) require_key_order();
}

void Facts::require_reads() const {
  Circuit& c = circuit_;
  const auto at_most_one = [&](const std::vector<Signal>& signals) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      for (std::size_t j = i + 1; j < signals.size(); ++j)
        c.require_any({!signals[i], !signals[j]});
    }
  };
  for (int x = 0; x < keys(); ++x) {
    for (int to = 1; to < carrier(); ++to) {
      std::vector<Signal> sources;
      for (int s = 0; s < txns(); ++s) {
        if (wr(x)(s, to).is_false()) continue;
        if (s > 0) c.require(c.implies(wr(x)(s, to), writes(s, x)));
        sources.push_back(wr(x)(s, to));
      }
      if (frame_.slots == 0 && !frame_.repeated_reads) at_most_one(sources);
    }
  }
  for (int slot = txns(); slot < carrier(); ++slot) {
    std::vector<Signal> sources;
    for (int x = 0; x < keys(); ++x) {
      for (int s = 0; s < txns(); ++s) {
        if (!wr(x)(s, slot).is_false()) sources.push_back(wr(x)(s, slot));
      }
    }
    for (int x = 0; x < keys() && frame_.statements; ++x) {
      for (const auto& kind : operations_)
        sources.push_back(kind[static_cast<std::size_t>((slot - txns()) * keys() + x)]);
    }
    at_most_one(sources);
    const bool is_last = slot + 1 == carrier() || txn_of(slot + 1) != txn_of(slot);
    if (!is_last) c.require(c.implies(is_filled(slot + 1), is_filled(slot)));
  }
}

void Facts::require_sessions() const {
  Circuit& c = circuit_;
  const auto comparable = [&](int a, int b) { return c.disj({so_(a, b), so_(b, a)}); };
  for (int a = 1; a < txns(); ++a) {
    for (int b = 1; b < txns(); ++b) {
      if (a == b) continue;
      if (a < b) c.require_any({!so_(a, b), !so_(b, a)});
      for (int d = 1; d < txns(); ++d) {
        if (d == a || d == b) continue;
        c.require_any({!so_(a, b), !so_(b, d), so_(a, d)});
        if (frame_.scope.sessions != SessionShape::Chains || b >= d) continue;
        c.require_any({!so_(a, b), !so_(a, d), comparable(b, d)});
        c.require_any({!so_(b, a), !so_(d, a), comparable(b, d)});
      }
    }
  }
}

// Intervals on a line: what ended before another began, of two pairs (a, b) and (c, d) at least one
// of the first ones ended before the other's second one began.
void Facts::require_times() const {
  Circuit& c = circuit_;
  for (int a = 1; a < txns(); ++a) {
    for (int b = 1; b < txns(); ++b) {
      if (a == b) continue;
      c.require_any({!rt_(a, b), !rt_(b, a)});
      c.require_any({!so()(a, b), !rt_(b, a)});  // a session begins one after the other
      for (int s = 1; s < txns(); ++s) {
        for (int t = 1; t < txns(); ++t) {
          if (s != t) c.require_any({!rt_(a, b), !rt_(s, t), rt_(a, t), rt_(s, b)});
        }
      }
    }
  }
}

// Of two neighbouring keys the first has the lexicographically larger column: W and R of the first
// transaction, then of the second, and so on.
void Facts::require_key_order() const {
  Circuit& c = circuit_;
  for (int x = 0; x + 1 < keys(); ++x) {
    Signal equal_so_far = kTrue;
    for (int t = 1; t < txns(); ++t) {
      for (const bool is_write : {true, false}) {
        const Signal left = is_write ? writes(t, x) : reads(t, x);
        const Signal right = is_write ? writes(t, x + 1) : reads(t, x + 1);
        c.require_any({!equal_so_far, left, !right});
        equal_so_far = c.conj({equal_so_far, c.iff(left, right)});
      }
    }
  }
}

void Facts::add_read_operations(int t, int x, std::vector<Signal>& operations) const {
  if (frame_.slots > 0) return;  // the slots are the operations
  if (!frame_.repeated_reads) {
    operations.push_back(reads(t, x));
    return;
  }
  for (int s = 0; s < txns(); ++s) {
    if (!wr(x)(s, t).is_false()) operations.push_back(wr(x)(s, t));
  }
}

std::vector<Signal> Facts::operations() const {
  std::vector<Signal> all;
  for (int t = 1; t < txns(); ++t) {
    for (int x = 0; x < keys(); ++x) {
      if (!frame_.statements) all.push_back(writes(t, x));
      add_read_operations(t, x, all);
    }
  }
  all.insert(all.end(), filled_.begin(), filled_.end());
  return all;
}

std::vector<Signal> Facts::session_edges() const {
  std::vector<Signal> all;
  for (int s = 1; s < txns(); ++s) {
    for (int t = 1; t < txns(); ++t) {
      if (!so_(s, t).is_false()) all.push_back(so_(s, t));
    }
  }
  return all;
}

}  // namespace isoscope::synthesis
