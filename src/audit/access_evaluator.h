#pragma once
// Turns the data of a call (access.h) into terms: its conditions for a row, what its writes leave,
// and the expressions of the program at a point of it.
//
// A visitor without state of its own: what it finds out about a row is kept with the call
// (Instance::known), and what must hold of the symbols that it makes up joins the call's facts.
#include <optional>
#include <span>
#include <vector>

#include "audit/instance.h"

namespace isoscope::audit {

class AccessEvaluator {
 public:
  AccessEvaluator(Symbols& symbols, Instance& instance)
      : symbols_(symbols),
        instance_(instance),
        loops_(instance.rules().loops),
        per_statement_(instance.rules().per_statement) {}

  // See Instance.
  SmtTerm happens(const Access& access, const Row& row);
  SymValue written(const Access& access, const Row& row);
  SmtTerm holds(ConditionId condition, const Row& row);
  SmtTerm would_match(const Access& scan, const Row& row, ColumnValues values);

  // Expressions of the program.
  struct Truth {
    SmtTerm yes;
    SmtTerm no;  // neither: NULL
  };
  SymValue eval(const sql::Expr& expr, const Frame& frame);
  Truth truth(const sql::Expr& expr, const Frame& frame);
  SmtTerm is_true(const sql::Expr& expr, const Frame& frame) { return truth(expr, frame).yes; }
  SmtTerm is_true(const std::optional<sql::Expr>& expr, const Frame& frame) {
    return expr ? truth(*expr, frame).yes : symbols_.yes();
  }
  SymArray array(const sql::Expr& expr, const Frame& frame);
  SymValue element_of(const SymArray& list, SmtTerm index);
  // A column of one of the frame's rows.
  SymValue column_of(const Frame& frame, sql::SourceId source, sql::ColumnId column);

  // What a row holds in a frame, own writes included. Kept by location and row: conditions of
  // writes ask for what was there before them, so that without memory each write would double the
  // work.
  SmtTerm present(sql::TableId table, const Row& row, const Frame& frame);
  SymValue value(sql::TableId table, sql::ColumnId column, const Row& row, const Frame& frame);

  SmtTerm is_unwritten(const condition::Unwritten& what, const Row& row);
  // It has locked or written the row by then, and so sees it as it is.
  SmtTerm has_locked(sql::TableId table, const Row& row, std::size_t before);
  bool may_have_locked(sql::TableId table, std::size_t before) const;

 private:
  Truth compare(sql::ExprOp op, const SymValue& a, const SymValue& b) const;
  SymValue arithmetic(const sql::Expr& expr, const Frame& frame);
  SymValue turned(const sql::Expr& expr, const Frame& frame);
  SymValue rounded(const sql::Expr& expr, const Frame& frame);
  // Is the value of the expression a number, and not NaN or an infinity?
  SmtTerm is_finite(const sql::Expr& expr, const SymValue& value);
  // `exact` where the operands are numbers, else some function `name` of them.
  SmtTerm if_finite(const sql::Expr& expr, std::span<const SymValue> operands, const char* name,
                    SmtTerm exact);
  SmtTerm meets(const RowExpr& expr, const Frame& frame);
  SymValue eval(const RowExpr& expr, const Row& row) { return eval(*expr.expr, expr.of(row)); }
  std::vector<SmtTerm> all_hold(const std::vector<ConditionId>& conditions, const Row& row);
  static Instance::Asked asked(sql::TableId table, Attribute attribute, const Row& row,
                               const Frame& frame);

  Symbols& symbols_;
  Instance& instance_;
  Loops loops_;
  bool per_statement_;
};

}  // namespace isoscope::audit
