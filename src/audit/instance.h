#pragma once
// A transaction instance as formulas: what it accesses, under which condition.
//
// One access model stands for the paper's table of rules for pairs of statements. Each statement
// yields accesses: a location (table, row, and what of the row), whether it is read or written,
// and a condition. Dependencies between two instances follow from their accesses alone
// (world.h), whatever the statements were.
//
// The condition is exact: the access happens if and only if it holds. What decides it but is not
// modelled (a function that we do not know, which of the rounds of a loop we look at) is a symbol
// that is free to be true or false. So one formula is at once the paper's necessary condition
// (an access may happen only if …) and its sufficient one (it must happen if …).
//
// Values come from views: each instance has one function a table and column, from rows to the
// value that the instance sees there before its own writes. Atomic visibility is that there is
// only one such function. At READ COMMITTED there is one for each moment (moments.h), and one for
// what is current: rows that the instance writes or locks.
//
// Paper    [NagarJagannathan-CONCUR'18], sections 4.1 and 4.3, Appendices A and B.
// Differs  The access model in place of rules; conditions share the round of the loop; a row that
//          is not there has no columns to read; an UPDATE reads what its SET and WHERE use.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "audit/access.h"
#include "audit/moments.h"

namespace isoscope::audit {

// Advisory locks are on rows of tables that no statement can name: of one number, and of two.
inline sql::TableId advisory_table(const sql::Application& app, std::size_t num_numbers) {
  return {static_cast<std::uint32_t>(app.tables.size() + num_numbers)};
}

// Which rounds of a loop we look at.
enum class Loops : std::uint8_t {
  // Any two rounds of however many: for proofs. A node of a cycle has one edge in and one out, so
  // two are enough; what earlier rounds left in variables is unknown.
  AnyTwo,
  // There are at most two rounds, one after the other: for witnesses.
  AtMostTwo,
};

struct InstanceRules {
  Loops loops = Loops::AtMostTwo;
  // INSERT looks for its key among what is there at that moment, not in the view: whether the key
  // is taken is then unknown wherever keys are freed.
  bool keys_are_unknown = false;
  // READ COMMITTED: a snapshot for each statement.
  bool per_statement = false;
};

struct Parameter {
  SymValue value;
  std::optional<SymArray> array;
};

// Stands for a sequence where fresh values are told apart by table and column.
inline std::pair<std::uint32_t, std::uint32_t> sequence_key(sql::SequenceId sequence) {
  return {UINT32_MAX, sequence.index};
}

class Instance {
 public:
  Instance(Symbols& symbols, sql::FunctionId function, std::string name, InstanceRules rules)
      : symbols_(&symbols), function_(function), name_(std::move(name)), rules_(rules) {}
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  sql::FunctionId function() const { return function_; }
  const std::string& name() const { return name_; }
  const InstanceRules& rules() const { return rules_; }

  // In program order.
  std::vector<Access> accesses;
  Conditions conditions;
  std::vector<Parameter> parameters;
  std::vector<SmtTerm> facts;
  std::vector<RowFact> row_facts;
  // Rows that statements are about, whether or not that is an access.
  std::vector<std::pair<sql::TableId, Row>> named_rows;
  // Values that the database makes up, never twice for one column or one sequence (sequence_key).
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, SmtTerm>> fresh_values;
  SmtTerm committed;
  // With a snapshot per statement: by moment, that the call comes to it.
  ById<MomentId, SmtTerm> moments;

  // What it sees in a row before its own writes. Of rows and columns that never change, what
  // all calls see.
  SmtTerm presence(sql::TableId table, const Row& row, MomentId at = {});
  SymValue value(sql::TableId table, sql::ColumnId column, const Row& row, MomentId at = {});
  // Whether an entry of a UNIQUE constraint is taken.
  SmtTerm taken(sql::TableId table, sql::UniqueId unique, const Row& entry, MomentId at = {});
  // The same for any location; presence and entries as 0 or 1.
  SymValue seen(sql::TableId table, Attribute attribute, const Row& row, MomentId at = {});

  // Where its view was asked for: location and row.
  struct Use {
    sql::TableId table;
    Attribute attribute;
    Row row;
    MomentId at = {};
  };
  const std::vector<Use>& uses() const { return uses_; }

  // What AccessEvaluator has found out already: what a row of a table has in a column (or
  // kPresence; of that, the number only), after so many accesses of its own.
  struct Asked {
    sql::TableId table;
    Attribute attribute = {};
    std::size_t num_accesses = 0;
    MomentId at = {};
    std::vector<std::uint32_t> row;  // its terms
    friend auto operator<=>(const Asked&, const Asked&) = default;
  };
  std::map<Asked, SymValue> known;

 private:
  struct View {
    SmtFunction null;
    SmtFunction number;
  };
  using ViewKey = std::tuple<MomentId, sql::TableId, Attribute>;
  void note_use(sql::TableId table, Attribute attribute, const Row& row, MomentId at);
  std::string label(MomentId at) const;

  Symbols* symbols_;
  sql::FunctionId function_;
  std::string name_;
  InstanceRules rules_;
  std::map<ViewKey, View> views_;
  std::vector<Use> uses_;
  std::map<ViewKey, std::vector<std::vector<std::uint32_t>>> noted_;
};

// Runs a function on symbols (symbolic_run.cpp).
std::unique_ptr<Instance> make_instance(Symbols& symbols, sql::FunctionId function,
                                        std::string name, InstanceRules rules);

}  // namespace isoscope::audit
