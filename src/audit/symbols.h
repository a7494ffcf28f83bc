#pragma once
// The vocabulary of the formulas: values that may be NULL, rows, and what all instances share.
//
// Every value is a number with a flag for NULL; a truth value is 0 or 1; a text is the
// number of its literal, or a number that stands for some other text. Numbers are whole, unless the
// program has numerics: then all are real (SmtNumbers). That is sound for proofs, which have more
// models then. Searches for runs say which values are whole, and of how many digits the others are.
// What we cannot express (multiplying or dividing by something that is no constant, functions that
// we do not know) is an uninterpreted function of its arguments: equal arguments give equal
// results, and that is all that is said.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/attribute.h"
#include "smt/solver.h"
#include "sql/run/changes.h"

namespace isoscope::audit {

struct SymValue {
  SmtTerm null;    // a formula
  SmtTerm number;  // of no meaning where `null` holds
};

struct SymArray {
  SmtTerm size;
  SmtFunction element;  // from 1; elements are not NULL
};

// A row of a table by its primary key, one number a column.
using Row = std::vector<SmtTerm>;

// Real, if something in the program is a numeric.
SmtNumbers numbers_of(const sql::Application& app);

class Symbols {
 public:
  // Without `may_cut_texts` no text has blanks at its end that a column has no room for: enough for
  // who looks for a run, and too little for who rules one out.
  Symbols(SmtSolver& smt, const sql::Application& app, const sql::Changes& changes,
          bool may_cut_texts);

  SmtSolver& smt() const { return smt_; }
  const sql::Application& app() const { return app_; }
  const sql::Changes& changes() const { return changes_; }
  bool may_cut_texts() const { return may_cut_texts_; }

  // Whether the attribute of any row is ever written.
  bool may_change(sql::TableId table, Attribute attribute) const;

  SmtTerm yes() const { return yes_; }
  SmtTerm no() const { return no_; }
  SymValue null() const { return {yes_, zero_}; }
  SymValue number(std::int64_t value) const { return {no_, smt_.number(value)}; }
  SymValue text(const std::string& literal) const { return number(text_numbers_.at(literal)); }
  // Of a literal of the program, or a new text for another number.
  std::string text_of(std::int64_t number) const;
  SymValue truth(SmtTerm formula) const;
  // NULL, or a value of the enum that the width is of; true for other types.
  SmtTerm is_label(const sql::Width& width, const SymValue& value) const;

  SymValue fresh_value(std::string_view name, bool may_be_null);
  SmtTerm fresh_number(std::string_view name) { return smt_.new_constant(name, SmtSolver::kInt); }
  SmtTerm fresh_truth(std::string_view name) { return smt_.new_constant(name, SmtSolver::kBool); }
  SymArray fresh_array(std::string_view name);

  SmtFunction row_function(std::string_view name, sql::TableId table, SmtSort to);
  // Rows and columns that never change: one function for all instances.
  SmtTerm static_presence(sql::TableId table, const Row& row);
  SymValue static_value(sql::TableId table, sql::ColumnId column, const Row& row);
  // The column's number in the key that names the row, if it is part of it.
  std::optional<SymValue> key_value(sql::TableId table, sql::ColumnId column, const Row& row) const;
  // The state in which everything starts.
  SmtTerm initial_presence(sql::TableId table, const Row& row);
  SymValue initial_value(sql::TableId table, sql::ColumnId column, const Row& row);
  // The same, whether it ever changes or not: what a row holds at the start.
  SmtTerm present_at_start(sql::TableId table, const Row& row);
  SymValue value_at_start(sql::TableId table, sql::ColumnId column, const Row& row);
  // An entry of a UNIQUE constraint is taken.
  SmtTerm initial_entry(sql::TableId table, sql::UniqueId unique, const Row& entry);
  SmtFunction entry_function(std::string_view name, sql::TableId table, sql::UniqueId unique);

  // A function that we know nothing about, by name and number of arguments.
  SymValue opaque(const std::string& name, std::span<const SymValue> arguments);

  SmtTerm same_row(const Row& a, const Row& b) const;
  SmtTerm same_value(const SymValue& a, const SymValue& b) const;
  // Of two, which most are, the connective itself: it needs no list inside the solver.
  SmtTerm all(std::span<const SmtTerm> formulas) const {
    return formulas.size() == 2 ? formulas[0] && formulas[1] : all_of(smt_, formulas);
  }
  SmtTerm any(std::span<const SmtTerm> formulas) const {
    return formulas.size() == 2 ? formulas[0] || formulas[1] : any_of(smt_, formulas);
  }
  SymValue choose_value(SmtTerm condition, const SymValue& yes, const SymValue& no) const {
    return {choose(condition, yes.null, no.null), choose(condition, yes.number, no.number)};
  }

 private:
  struct ColumnFunctions {
    SmtFunction null;
    SmtFunction number;
  };
  using ColumnKey = std::pair<sql::TableId, sql::ColumnId>;  // a column
  SymValue value_of(std::map<ColumnKey, ColumnFunctions>& functions, std::string_view prefix,
                    sql::TableId table, sql::ColumnId column, const Row& row);
  SmtTerm presence_of(std::map<sql::TableId, SmtFunction>& functions, std::string_view prefix,
                      sql::TableId table, const Row& row);

  SmtSolver& smt_;
  const sql::Application& app_;
  const sql::Changes& changes_;
  bool may_cut_texts_;
  SmtTerm yes_;
  SmtTerm no_;
  SmtTerm zero_;
  std::map<std::string, std::int64_t> text_numbers_;
  std::map<std::int64_t, std::string> texts_;
  bool has_short_texts_ = false;  // columns have no room for longer ones
  std::map<ColumnKey, ColumnFunctions> static_values_;
  std::map<sql::TableId, SmtFunction> static_presences_;
  std::map<ColumnKey, ColumnFunctions> initial_values_;
  std::map<sql::TableId, SmtFunction> initial_presences_;
  std::map<std::pair<sql::TableId, sql::UniqueId>, SmtFunction> initial_entries_;
  std::map<std::pair<std::string, std::size_t>, ColumnFunctions> opaque_;
};

}  // namespace isoscope::audit
