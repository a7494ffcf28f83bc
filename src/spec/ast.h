#pragma once
// The syntax tree of the level language: formulas over transactions, keys and reads, and
// expressions over relations. Made by spec/resolver.h, which knows names and sorts, from what
// spec/parser.h reads; immutable and shared.
//
//     forall x: key, t1, t2, t3: txn.
//       wr[x](t1, t3) and writes(t2, x) and t1 != t2 and (so | wr)+(t2, t3)  implies  co(t2, t1)
//
// Variables are slots: every quantifier binds fresh slots of its axiom, numbered from 0, so an
// evaluator keeps one array of values an axiom and never compares names. Names bound by `let`
// are gone: each use holds the expression that it stands for.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/error.h"

namespace isoscope {

enum class Sort : std::uint8_t { Txn, Key, Read };

struct Variable {
  std::string name;
  Sort sort = Sort::Txn;
  int slot = 0;
};

struct RelationExpr;
struct Formula;
using RelationPtr = std::shared_ptr<const RelationExpr>;
using FormulaPtr = std::shared_ptr<const Formula>;

// clang-format off
enum class RelationOp : std::uint8_t {
  So, Wr, Co, Vis, Ar, Po,   // facts and witness; Wr with `key` is wr[x]
  Snap,                      // a transaction to the reads whose snapshots have it: witness
  Of, Same, Waited,          // facts about statements (spec/statements.h)
  Rt,                        // a fact: the first ended before the second began
  Ww, Rw,                    // with `key` restricted to it, else the union over keys
  IdentityOn,                // [S], with `set`, and `key` for writers(x)
  Union, Intersection, Difference, Compose,  // left, right
  Inverse, Plus, Star,                       // left
  Maybe,  // left; only in text: a relation with sorts has its union with identity instead
};
// clang-format on

enum class SetName : std::uint8_t { Writers, Readers, Aborted };

struct RelationExpr {
  RelationOp op = RelationOp::So;
  Sort from = Sort::Txn;        // what it relates …
  Sort to = Sort::Txn;          // … to what; Wr may go to a read
  std::optional<Variable> key;  // of wr[x], ww[x], rw[x], [writers(x)]
  SetName set = SetName::Writers;
  RelationPtr left;
  RelationPtr right;
  Place place;
};

// clang-format off
enum class FormulaOp : std::uint8_t {
  Forall, Exists,                 // variables, left
  Not, And, Or, Implies, Iff,     // left, right
  Equal,                          // a, b (inequality is Not Equal)
  Member,                         // relation(a, b)
  Writes, Reads,                  // a: txn, b: key
  Locks, WritesRow,               // a: txn, b: key, about its row
  Current,                        // a: read
  Subset,                         // relation, other
  Acyclic, Irreflexive, Transitive, Total, Empty,  // relation
};
// clang-format on

struct Formula {
  FormulaOp op = FormulaOp::And;
  std::vector<Variable> variables;
  std::optional<Variable> a;
  std::optional<Variable> b;
  RelationPtr relation;
  RelationPtr other;
  FormulaPtr left;
  FormulaPtr right;
  Place place;
};

}  // namespace isoscope
