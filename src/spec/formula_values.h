#pragma once
// Is a formula true? Quantifiers try all elements; a premise is tested as soon as the variables
// in it are bound, so that an instance which a premise rules out costs no inner loops.
//
//     forall x, t1, t2, t3. writes(t2, x) and wr[x](t1, t3) and so(t2, t3) implies co(t2, t1)
//
//     for x: for t1: for t2 of the writers of x: for t3 of those to which wr[x] relates t1:
//         if so(t2, t3): is co(t2, t1) true?
//
// As in this example, a variable runs only over the elements that one of its premises allows,
// where that premise can list them: r(t, u) lists u once t is bound, writes(t, x) lists t once x
// is. Which elements those are, the premise itself says; it is tested all the same.
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "spec/relation_values.h"
#include "spec/rule.h"

namespace isoscope {

class FormulaValues {
 public:
  // Once the budget, if there is one, expires, answers are no longer to be trusted.
  FormulaValues(const FactTables& facts, RelationValues& relations, Budget* budget = nullptr)
      : facts_(facts), relations_(relations), budget_(budget) {}

  // Adds a closed formula with so many slots and returns its number.
  int add(const Formula& formula, int slots);
  // Requires only those instances of formula `number` in which the element of `subject` is one of
  // `members` (by element of the carrier). Requires: the outermost forall binds `subject`.
  void restrict_to(int number, const Variable& subject, std::vector<std::uint8_t> members);

  // Looks for an instance that makes the formula false, and leaves it in environment().
  bool find_failure(int number);
  // Calls `report` for each instance that makes it false.
  void for_each_failure(int number, const std::function<void()>& report);
  const Environment& environment() const { return env_; }
  // The variables of its outermost forall, which an instance binds.
  const std::vector<Variable>& variables(int number) const {
    return searches_[static_cast<std::size_t>(number)].variables;
  }

  // After find_failure(): if the formula concludes something about a whole relation, such as
  // acyclic(r), a pair that contradicts it.
  struct Pair {
    Sort from_sort;
    Sort to_sort;
    std::size_t from;
    std::size_t to;
  };
  std::optional<Pair> offending_pair(int number);

 private:
  struct Node {
    FormulaOp op = FormulaOp::And;
    int a = -1;  // slots
    int b = -1;
    int relation = -1;  // numbers of relations
    int other = -1;
    int left = -1;  // numbers of nodes
    int right = -1;
    int search = -1;        // of a quantified part
    Sort from = Sort::Txn;  // what `relation` relates to what
    Sort to = Sort::Txn;
  };
  // Looks for values of variables such that all guards are true and the goal is false. A forall
  // holds if there are none; an exists has guards only and holds if there are some.
  struct Search {
    std::vector<Variable> variables;
    std::vector<std::vector<int>> guards;  // nodes to test once the first i variables are bound
    int goal = -1;                         // a node, or none: then the guards alone decide
    std::vector<int> lists;                // by variable: a guard that lists its elements, or -1
    std::vector<Environment> listed;       // by variable: what the guard listed last
    std::vector<std::uint8_t> members;     // of the subject; empty: any
    std::size_t subject = 0;               // how many variables are bound once it is
  };

  int add_node(const Formula& formula);
  int add_search(const std::vector<Variable>& variables, const std::vector<const Formula*>& guards,
                 const Formula* goal);
  bool holds(int node);
  Relation offending_pairs(const Node& node);
  // Extends the first `bound` variables of the environment; true once `accept` takes an instance.
  bool find(Search& search, std::size_t bound, const std::function<bool()>* accept);
  bool passes(const Search& search, std::size_t bound);
  // A guard among `guards` that can list the elements of `variable`, or -1.
  int listing_guard(const std::vector<int>& guards, const Variable& variable) const;
  // The elements over which the next variable runs.
  const Environment& candidates(Search& search, std::size_t bound);

  const FactTables& facts_;
  RelationValues& relations_;
  Budget* budget_;
  std::vector<Node> nodes_;
  std::vector<Search> searches_;
  Environment env_;
};

}  // namespace isoscope
