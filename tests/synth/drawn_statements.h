#pragma once
// Lists all small histories with statements and locks without a solver, as
// synth/brute_force_histories.h does for plain ones.
//
// A transaction is any list of operations of any kind, cut into statements in any way; what is no
// history (a read from nobody, a second write of a key) is left out afterwards. Nothing is left out
// by symmetry, and operations of a statement come in all orders.
#include <functional>
#include <string>
#include <vector>

#include "history/builder.h"
#include "synth/synth.h"

namespace isoscope {

struct DrawnOperation {
  enum class Kind { Read, OwnRead, Update, Insert, Lock, Share };
  Kind kind = Kind::Read;
  int key = 0;
  int writer = 0;  // of a Read: 0 for T0, t+1 for transaction t
  bool joined = false;
};
using DrawnTxn = std::vector<DrawnOperation>;

inline bool writes_key(const DrawnTxn& txn, int key) {
  for (const DrawnOperation& op : txn) {
    if (op.key == key &&
        (op.kind == DrawnOperation::Kind::Update || op.kind == DrawnOperation::Kind::Insert))
      return true;
  }
  return false;
}

// Of transaction t: is each key written once, and read from others before that and from itself
// after it?
inline bool is_transaction(const DrawnTxn& txn, int t) {
  std::vector<bool> written(8, false);
  for (const DrawnOperation& op : txn) {
    const auto x = static_cast<std::size_t>(op.key);
    switch (op.kind) {
      case DrawnOperation::Kind::Read:
        if (written[x] || op.writer == t + 1) return false;
        break;
      case DrawnOperation::Kind::OwnRead:
        if (!written[x]) return false;
        break;
      case DrawnOperation::Kind::Update:
      case DrawnOperation::Kind::Insert:
        if (written[x]) return false;
        written[x] = true;
        break;
      case DrawnOperation::Kind::Lock:
      case DrawnOperation::Kind::Share: break;
    }
  }
  return true;
}

// All lists of 1 to scope.ops operations of transaction t.
inline std::vector<DrawnTxn> drawn_transactions(const Scope& scope, bool inserts, int t) {
  using Kind = DrawnOperation::Kind;
  const bool locks =
      scope.statements == StatementShape::Any || scope.statements == StatementShape::NoInserts;
  std::vector<DrawnOperation> single;
  for (int x = 0; x < scope.keys; ++x) {
    for (int writer = 0; writer <= scope.txns; ++writer) single.push_back({Kind::Read, x, writer});
    single.push_back({Kind::OwnRead, x});
    single.push_back({Kind::Update, x});
    if (inserts && scope.statements == StatementShape::Any) single.push_back({Kind::Insert, x});
    if (locks) single.push_back({Kind::Lock, x});
    if (locks) single.push_back({Kind::Share, x});
  }
  std::vector<DrawnTxn> all;
  DrawnTxn txn;
  const std::function<void()> extend = [&] {
    if (!txn.empty() && is_transaction(txn, t)) all.push_back(txn);
    if (static_cast<int>(txn.size()) == scope.ops) return;
    for (const DrawnOperation& op : single) {
      for (const bool joined : {false, true}) {
        if (joined && (txn.empty() || scope.statements == StatementShape::Single)) continue;
        txn.push_back(op);
        txn.back().joined = joined;
        extend();
        txn.pop_back();
      }
    }
  };
  extend();
  return all;
}

inline History build(const std::vector<const DrawnTxn*>& txns, const std::vector<int>& session) {
  HistoryBuilder b(InitialValues::Zero);
  for (std::size_t t = 0; t < txns.size(); ++t) {
    const TxnId id = b.begin(b.session("s" + std::to_string(session[t])), TxnStatus::Committed, {});
    for (std::size_t i = 0; i < txns[t]->size(); ++i) {
      const DrawnOperation& op = (*txns[t])[i];
      const std::string key = "k" + std::to_string(op.key);
      if (!op.joined) b.begin_statement(id);
      const Value own = Value::of(static_cast<int>(t) + 1);
      switch (op.kind) {
        case DrawnOperation::Kind::Read: b.read(id, b.key(key), Value::of(op.writer), {}); break;
        case DrawnOperation::Kind::OwnRead: b.read(id, b.key(key), own, {}); break;
        case DrawnOperation::Kind::Update: b.write(id, b.key(key), own, {}); break;
        case DrawnOperation::Kind::Insert: b.insert(id, b.key(key), own, {}); break;
        case DrawnOperation::Kind::Lock: b.lock(id, b.text(key), LockMode::Exclusive, {}); break;
        case DrawnOperation::Kind::Share: b.lock(id, b.text(key), LockMode::Share, {}); break;
      }
    }
    b.end_statement(id);
  }
  return *std::move(b).build();
}

// Calls `visit` for each history of two transactions.
inline void for_each_statement_history(const Scope& scope, bool inserts,
                                       const std::function<void(const History&)>& visit) {
  const auto first = drawn_transactions(scope, inserts, 0);
  const auto second = drawn_transactions(scope, inserts, 1);
  const auto reads_written = [](const DrawnTxn& reader, const DrawnTxn& other) {
    for (const DrawnOperation& op : reader) {
      if (op.kind == DrawnOperation::Kind::Read && op.writer != 0 && !writes_key(other, op.key))
        return false;
    }
    return true;
  };
  for (const DrawnTxn& a : first) {
    for (const DrawnTxn& b : second) {
      if (!reads_written(a, b) || !reads_written(b, a)) continue;
      for (const std::vector<int>& session : {std::vector<int>{0, 0}, std::vector<int>{0, 1}})
        visit(build({&a, &b}, session));
    }
  }
}

}  // namespace isoscope
