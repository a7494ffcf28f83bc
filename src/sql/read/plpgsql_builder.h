#pragma once
// The statements of a PL/pgSQL body, or of a body in SQL, as statements of ours.
#include <optional>
#include <string>
#include <vector>

#include "sql/read/body_text.h"
#include "sql/read/catalog.h"
#include "sql/read/findings.h"
#include "sql/read/frame.h"
#include "sql/read/query_builder.h"
#include "sql/read/tree.h"
#include "sql/statement.h"

namespace isoscope::sql {

// r.f where the parser has a variable of ours instead.
struct RecordField {
  std::string record;
  std::string field;
};
inline constexpr std::string_view kFieldVariable = "isoscope_field_";

// What the head of CREATE FUNCTION says that the body needs.
struct FunctionHead {
  std::string name;
  bool returns_rows = false;    // SETOF, TABLE
  bool returns_record = false;  // rows of several values, of no type of ours
  bool returns_array = false;
  bool is_procedure = false;
  std::uint8_t returns_bits = 64;         // as of an Expr
  std::vector<std::size_t> parameters;    // named variables of the frame, in order of declaration
  std::vector<std::size_t> trigger_rows;  // NEW and OLD
  std::vector<RecordField> fields;        // in the order of the text
  std::vector<std::size_t> outputs;       // those that are OUT, INOUT or columns of TABLE
};

// `tree` as of parse_plpgsql(). The parameters are in the frame, and declared.
std::vector<Statement> build_plpgsql(const FunctionHead& head, const Tree& tree, BodyText& text,
                                     Catalog& catalog, Frame& frame, Findings& findings);

// LANGUAGE sql AS '…'. The last statement's result is the function's.
std::vector<Statement> build_sql_body(const FunctionHead& head, const std::string& body,
                                      BodyText& text, Catalog& catalog, Frame& frame,
                                      Findings& findings);

// The OUT parameters, as one value or an array; nothing if there are none.
std::optional<Expr> outputs_of(const FunctionHead& head, Frame& frame, Place place);
// One value of many: the only one, or an array.
Expr gather(std::vector<Expr> values, Place place);
// Returns each row of the query.
Statement make_row_loop(const Scope& scope, BuiltQuery built, const Statement& model);

}  // namespace isoscope::sql
