#pragma once
// The translation of one PL/pgSQL body. Only the sources of the translation include this; others
// use plpgsql_builder.h.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sql/read/plpgsql_builder.h"
#include "sql/read/query_builder.h"

namespace isoscope::sql {

class PlpgsqlBody {
 public:
  using Body = std::vector<Statement>;
  // A text that is parsed, and the way back to the file.
  struct Parsed {
    Tree tree;
    Locator where;
  };

  PlpgsqlBody(const FunctionHead& head, const Tree& datums, BodyText& text, Catalog& catalog,
              Frame& frame, Findings& findings);

  // Adds what the node says; nothing after a failure.
  void add_statement(Body& to, const Tree& wrapped);

 private:
  void add_all(Body& to, const Tree& list);
  void dispatch(Body& to, const std::string& kind, const Tree& node);
  void refuse(const std::string& kind, const Tree& node);
  // Fails if too much is around the node.
  bool fits(const Tree& node);

  // Control: plpgsql_builder.cpp.
  void add_assign(Body& to, const Tree& node);
  void add_if(Body& to, const Tree& node);
  void add_case(Body& to, const Tree& node);
  // One branch; what its condition asks for goes ahead of it.
  Statement test_of(const Statement& model, Body& ahead, const Tree& cond, const Tree& body);
  void add_loop(Body& to, const Tree& node);
  void add_while(Body& to, const Tree& node);
  void add_for_range(Body& to, const Tree& node);
  void add_for_array(Body& to, const Tree& node);
  void add_exit(Body& to, const Tree& node);
  void add_raise(Body& to, const Tree& node);
  // Fails for what the server refuses.
  void check_options(const Tree& node, Place place);
  std::string raised_state(const Tree& node, Place place);
  // Adds what the evaluation of an expression asks for, locks, or may fail with; its value, if it
  // is understood.
  std::optional<Expr> add_effects(Body& to, const Tree& expr, const Statement& around);
  void add_assert(Body& to, const Tree& node);
  void add_end(Body& to, const Tree& node, bool commits);
  Body loop_body(const Tree& node);

  // SQL and results: plpgsql_sql.cpp.
  void add_sql(Body& to, const Tree& node);
  void add_perform(Body& to, const Tree& node);
  void add_for_query(Body& to, const Tree& node);
  void check_locking_loop(const Statement& loop);
  void note_fetched_rows(const Statement& loop);
  void add_return(Body& to, const Tree& node);
  void add_return_next(Body& to, const Tree& node);
  void add_return_query(Body& to, const Tree& node);
  void add_diagnostics(Body& to, const Tree& node);
  void add_call(Body& to, const Tree& node);
  // A statement that gives rows: a query, or one with RETURNING. What comes before it goes to `to`.
  std::optional<BuiltQuery> rows_of_statement(Body& to, const Parsed& parsed,
                                              const Statement& model);
  // The value of what follows RETURN or RETURN NEXT, up to the semicolon.
  Expr returned(Body& to, const Tree& node, std::size_t word, const Statement& around);

  // Variables and expressions: plpgsql_variables.cpp.
  void add_block(Body& to, const Tree& node);
  void add_guarded(Body& to, const Tree& node, Place place);
  // `guarded` are the statements of the block, which say what can be caught.
  Expr caught_condition(const Tree& conditions, VarId state, const Body& guarded, Place place);
  void add_declaration(Body& to, std::size_t datum, const Tree& variable);
  DeclaredType declared_type(const std::string& text, Place place);
  // The named variable of a datum; fails if there is none.
  std::size_t named(std::int64_t datum, Place place);
  // The field of a record as a named variable.
  std::size_t field_of(std::size_t record, const std::string& name, Place place);
  // Puts others in the place of targets that are NOT NULL; the statements give them their values,
  // or fail.
  Body guard_targets(std::vector<VarId>& targets, const Statement& around);
  // Those of INTO or FOR.
  std::vector<std::size_t> targets_of(const Tree& target, Place place);

  Parsed parse(const std::string& sql, const Locator& where);
  Locator locate(const std::string& query, std::uint32_t line, std::size_t prefix, Place otherwise);
  Scope scope(Body& before, const Locator& where, const std::string& text);
  // Adds the statements that a subquery needs, without touching what FOUND and ROW_COUNT say.
  void add_before(Body& to, Body before);
  // A statement that starts with the word: its place, and its text up to `stop`.
  Statement start(const Tree& node, std::string_view word, std::string_view stop = ";");
  // An expression of PL/pgSQL is what may follow SELECT.
  Expr expression_at(Body& to, const std::string& query, const Locator& where,
                     const Statement& around);
  Expr expression(Body& to, const Tree& expr, const Statement& around);
  Expr condition(Body& to, const Tree& expr, const Statement& around);
  Expr fitted(Expr value, Type type, bool is_array, std::string_view what, const Width& width = {});

  const FunctionHead& head_;
  const Tree& datums_;
  BodyText& text_;
  Catalog& catalog_;
  Frame& frame_;
  Findings& findings_;
  std::map<std::size_t, std::size_t> named_;  // by datum
  std::size_t next_datum_ = 0;                // the first that no block has declared
  std::size_t next_loop_ = 0;  // the first datum that may be the variable of a loop to come
  struct Level {
    std::string label;
    bool is_block = false;  // that only EXIT with its label leaves
  };
  std::vector<Level> loops_;
  bool to_continues_ = false;                   // the query of rows_of_statement() goes on with it
  std::size_t num_handlers_ = 0;                // around
  std::size_t next_field_ = 0;                  // of FunctionHead::fields
  std::map<std::string, std::size_t> aliases_;  // ALIAS FOR: the parameter
  std::vector<VarId> not_null_;                 // declared so
  bool names_may_clash_ = true;                 // unless #variable_conflict says otherwise
  int nesting_ = 0;                             // statements around
  int branches_ = 0;                            // ELSIF and WHEN before, of all IF and CASE around
};

// The line of a node in the body.
std::uint32_t line_of(const Tree& node);
std::string query_of(const Tree& expr);
// A SELECT of values alone: no FROM, no WHERE, no LIMIT and the like.
bool is_bare(const Tree& select);

inline constexpr std::string_view kSelect = "SELECT ";

}  // namespace isoscope::sql
