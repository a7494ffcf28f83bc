// Facts about statements and locks: operations in slots, what they claim, who waits for whom.
#include "synth/facts.h"

namespace isoscope::synthesis {

namespace {

using Operation = Facts::Operation;
constexpr Operation kOperations[] = {Operation::Update, Operation::Insert, Operation::Lock,
                                     Operation::Share, Operation::OwnRead};

FactKind kind_of(Operation operation) {
  switch (operation) {
    case Operation::Update: return FactKind::Update;
    case Operation::Insert: return FactKind::Insert;
    case Operation::Lock: return FactKind::Lock;
    case Operation::Share: return FactKind::Share;
    case Operation::OwnRead: return FactKind::OwnRead;
  }
  return FactKind::OwnRead;
}

bool is_in(const Frame& frame, Operation operation) {
  switch (operation) {
    case Operation::Insert: return frame.inserts;
    case Operation::Lock:
    case Operation::Share: return frame.locks;
    case Operation::Update:
    case Operation::OwnRead: return true;
  }
  return false;
}

}  // namespace

void Facts::add_operations(const std::function<Signal()>& next) {
  const int slots = carrier() - txns();
  for (const Operation operation : kOperations) {
    std::vector<Signal> kind(static_cast<std::size_t>(slots * keys()), kFalse);
    for (int slot = txns(); slot < carrier() && is_in(frame_, operation); ++slot) {
      for (int x = 0; x < keys(); ++x)
        kind[static_cast<std::size_t>((slot - txns()) * keys() + x)] =
            add(next, {kind_of(operation), slot, x, slot});
    }
    operations_.push_back(std::move(kind));
  }
  joined_.assign(static_cast<std::size_t>(slots), kFalse);
  for (int i = 0; i < slots && frame_.joins; ++i) {
    if (i % frame_.slots != 0)
      joined_[static_cast<std::size_t>(i)] =
          add(next, {FactKind::Joined, txns() + i, 0, txns() + i});
  }
  for (int t = 1; t < txns(); ++t) {
    for (int x = 0; x < keys(); ++x) {
      std::vector<Signal> ways;
      for (int slot = txns(); slot < carrier(); ++slot) {
        if (txn_of(slot) != t) continue;
        ways.push_back(does(Operation::Update, slot, x));
        ways.push_back(does(Operation::Insert, slot, x));
      }
      writes_[index(t, x)] = circuit_.disj(ways);
    }
  }
}

Signal Facts::does(Operation operation, int slot, int x) const {
  return operations_[static_cast<std::size_t>(operation)]
                    [static_cast<std::size_t>((slot - txns()) * keys() + x)];
}

Signal Facts::is_joined(int slot) const { return joined_[static_cast<std::size_t>(slot - txns())]; }

// Writes and locks; or reads of own writes.
Signal Facts::any_of_kind(int slot, bool claims) const {
  std::vector<Signal> any;
  for (const Operation operation : kOperations) {
    if ((operation != Operation::OwnRead) != claims) continue;
    for (int x = 0; x < keys(); ++x) any.push_back(does(operation, slot, x));
  }
  return circuit_.disj(any);
}

Signal Facts::is_read(int slot, bool own) const {
  if (!frame_.statements) return is_filled(slot);
  std::vector<Signal> any;
  for (int s = 0; s < txns(); ++s) any.push_back(any_wr_(s, slot));
  if (own) any.push_back(any_of_kind(slot, false));
  return circuit_.disj(any);
}

Signal Facts::same_statement(int slot, int other) const {
  if (txn_of(slot) != txn_of(other)) return kFalse;
  std::vector<Signal> all;
  for (int i = std::min(slot, other) + 1; i <= std::max(slot, other); ++i)
    all.push_back(is_joined(i));
  return circuit_.conj(all);
}

Signal Facts::claims(int slot, int x, bool inserts) const {
  std::vector<Signal> any = {does(Operation::Update, slot, x), does(Operation::Lock, slot, x),
                             does(Operation::Share, slot, x)};
  if (inserts) any.push_back(does(Operation::Insert, slot, x));
  return circuit_.disj(any);
}

Signal Facts::is_current(int slot) const {
  std::vector<Signal> ways;
  for (int x = 0; x < keys(); ++x) {
    std::vector<Signal> shown = {does(Operation::OwnRead, slot, x)};
    for (int s = 0; s < txns(); ++s) shown.push_back(wr(x)(s, slot));
    std::vector<Signal> claimed;
    for (int other = txns(); other < carrier(); ++other)
      claimed.push_back(circuit_.conj({same_statement(slot, other), claims(other, x, true)}));
    ways.push_back(circuit_.conj({circuit_.disj(shown), circuit_.disj(claimed)}));
  }
  return circuit_.disj(ways);
}

Signal Facts::locks(int t, int x) const {
  std::vector<Signal> ways;
  for (int slot = txns(); slot < carrier(); ++slot) {
    if (txn_of(slot) == t) ways.push_back(claims(slot, x, false));
  }
  return circuit_.disj(ways);
}

// In a statement before that of the slot, its transaction claims a key that t claims, too, and not
// both of them share it.
Signal Facts::waited(int t, int slot) const {
  if (txn_of(slot) == t) return kFalse;
  std::vector<Signal> ways;
  for (int own = txns(); own < slot; ++own) {
    if (txn_of(own) != txn_of(slot)) continue;
    for (int other = txns(); other < carrier(); ++other) {
      if (txn_of(other) != t) continue;
      for (int x = 0; x < keys(); ++x) {
        const Signal both_share =
            circuit_.conj({does(Operation::Share, own, x), does(Operation::Share, other, x)});
        ways.push_back(circuit_.conj({!same_statement(own, slot), claims(own, x, false),
                                      claims(other, x, false), !both_share}));
      }
    }
  }
  return circuit_.disj(ways);
}

void Facts::require_statements() const {
  Circuit& c = circuit_;
  for (int slot = txns(); slot < carrier(); ++slot) {
    c.require(c.implies(is_joined(slot), is_filled(slot)));
    for (int x = 0; x < keys(); ++x) {
      const Signal is_write =
          c.disj({does(Operation::Update, slot, x), does(Operation::Insert, slot, x)});
      c.require_any({!aborted(txn_of(slot)), !is_write});
      std::vector<Signal> written_before = {!does(Operation::OwnRead, slot, x)};
      for (int i = slot - 1; i >= txns() && txn_of(i) == txn_of(slot); --i) {
        const Signal before =
            c.disj({does(Operation::Update, i, x), does(Operation::Insert, i, x)});
        written_before.push_back(before);
        c.require_any({!is_write, !before});
        for (int s = 0; s < txns(); ++s) c.require_any({!wr(x)(s, slot), !before});
      }
      c.require_any(written_before);
    }
    if (is_joined(slot).is_false()) continue;
    // Within a statement: external reads, then claims, then reads of own writes.
    const int last = slot - 1;
    const Signal apart = !is_joined(slot);
    c.require_any({apart, !any_of_kind(last, true), !is_read(slot, false)});
    c.require_any({apart, !any_of_kind(last, false), any_of_kind(slot, false)});
    for (int x = 0; x < keys(); ++x) {
      for (int y = 0; y <= x; ++y) {
        c.require_any({apart, !claims(last, x, true), !claims(slot, y, true)});
        c.require_any(
            {apart, !does(Operation::OwnRead, last, x), !does(Operation::OwnRead, slot, y)});
      }
    }
  }
}

std::vector<Signal> Facts::decorations() const {
  std::vector<Signal> all;
  const auto add_unless_constant = [&](Signal s) {
    if (!s.is_constant()) all.push_back(s);
  };
  for (const Signal joined : joined_) add_unless_constant(joined);
  for (int slot = txns(); slot < carrier() && frame_.statements; ++slot) {
    for (int x = 0; x < keys(); ++x) {
      add_unless_constant(does(Operation::Insert, slot, x));
      add_unless_constant(does(Operation::Lock, slot, x));
      add_unless_constant(does(Operation::Share, slot, x));
    }
  }
  for (int a = 1; a < txns() && frame_.real_time; ++a) {
    for (int b = 1; b < txns(); ++b) add_unless_constant(rt_(a, b));
  }
  return all;
}

}  // namespace isoscope::synthesis
