#pragma once
// The values of relation expressions in one history, for one witness after the other.
//
// Each expression is added once and gets a number. Its value is computed when first asked for:
// facts stay, what depends on the witness is computed anew for each witness, and an expression
// with a key variable has one value for each key.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "spec/fact_tables.h"

namespace isoscope {

// What each slot of an axiom stands for: an element of the carrier, or a key.
using Environment = std::vector<std::uint32_t>;

class RelationValues {
 public:
  // Once the budget, if there is one, expires, values are no longer to be trusted.
  explicit RelationValues(const FactTables& facts, Budget* budget = nullptr)
      : facts_(facts), budget_(budget) {}

  // The number of an expression, for value().
  int add(const RelationExpr& expression);
  // The orders of the next witness: co alone, ar and vis, or co and snap.
  void set_orders(const std::vector<TxnId>& order, const Relation* vis,
                  const std::vector<std::uint32_t>* snap = nullptr);
  // Requires: set_orders() was called, and the key variables have values in `env`.
  const Relation& value(int number, const Environment& env);

 private:
  static constexpr std::uint64_t kNever = 0;
  static constexpr std::uint64_t kForGood = ~std::uint64_t{0};

  struct Value {
    Relation relation;
    std::uint64_t computed_for = kNever;  // a witness, by number
  };
  struct Node {
    RelationOp op = RelationOp::So;
    Sort from = Sort::Txn;
    Sort to = Sort::Txn;
    SetName set = SetName::Writers;
    int key = -1;  // the slot of its own index
    int left = -1;
    int right = -1;
    std::vector<int> keys;      // the slots on which its value depends
    bool is_fact = true;        // does its value not depend on the witness?
    std::vector<Value> values;  // by key; a single one if it depends on none or on several
  };

  void compute(const Node& node, const Environment& env, Relation& out);
  void compute_leaf(const Node& node, const Environment& env, Relation& out);
  Relation ww(KeyId x) const;
  Relation rw(KeyId x) const;

  const FactTables& facts_;
  Budget* budget_;
  std::vector<Node> nodes_;
  std::map<std::string, int> closed_;  // numbers of expressions without key variables, by text
  Relation order_;
  Relation vis_;
  Relation snap_;
  std::uint64_t witness_ = kNever;
};

}  // namespace isoscope
