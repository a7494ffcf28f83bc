#pragma once
// Runs a function on symbols: variables are terms, branches are conditions, and every access to
// the database is written down with the condition under which it happens.
//
// After an IF, a variable is "one or the other" (choose). A RETURN, a RAISE or an EXIT makes the
// rest happen only if it was not taken: `alive` is the condition of going on. Loops follow
// instance.h. The parts: expressions (symbolic_expr.cpp), statements that touch the database
// (symbolic_sql.cpp), row sets (symbolic_rows.cpp), control flow (symbolic_run.cpp).
#include <compare>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "audit/access_evaluator.h"

namespace isoscope::audit {

class SymbolicRun {
 public:
  // Fills `instance`, whose conditions refer to this object: they live together.
  SymbolicRun(Symbols& symbols, Instance& instance);
  void run();

 private:
  // A round of a loop.
  struct Round {
    SmtTerm active;
    std::vector<std::pair<sql::VarId, SymValue>> targets = {};
  };

  // Expressions.
  Frame here() const;
  // What is there when the call commits; without snapshots per statement, the same as here().
  Frame current() const;

  // Statements on the database.
  struct Plan;       // how the rows of a query are found
  struct Selection;  // rows that a query is about
  Plan plan(std::span<const sql::TableId> sources, const std::optional<sql::Expr>& where) const;
  // A row for each source: as the key says, or some row where it does not.
  std::vector<Source> rows_of(const Plan& plan, const Frame& frame);
  Selection select(const sql::Statement& statement, const sql::Query& query, std::size_t num_rows);
  struct Search;   // how the rows of one table are looked for
  struct Finding;  // what the parts of a SELECT share
  Finding finding_of(const sql::Query& query);
  SmtTerm are_met(const sql::Query& query, const std::vector<Source>& rows, const Frame& at);
  SmtTerm are_found(const Finding& finding, const std::vector<Source>& rows);
  void find_rows(const Finding& finding, std::size_t num_rows, Selection& selection);
  Search search_of(const Finding& finding, std::uint32_t source, const Selection& selection);
  void scan(const sql::Statement& statement, const Finding& finding, const Search& search,
            const std::set<std::uint32_t>& outputs);
  void lock_found(const sql::Statement& statement, const Finding& finding, const Search& search,
                  const std::set<std::uint32_t>& outputs, const Selection& selection);
  void find_all(const Finding& finding, std::size_t num_rows, const Selection& selection);
  void run_select(const sql::Statement& statement, const sql::Select& select);
  void select_into(const sql::Statement& statement, const sql::Select& select);
  // One row: that there is one, and its values.
  struct Aggregated {
    SmtTerm is_returned;
    std::vector<SymValue> values;
  };
  Aggregated aggregate(const sql::Statement& statement);
  SymValue aggregate_of_rows(const sql::Output& output, const Selection& selection,
                             bool is_single_row);
  void aggregate_into(const sql::Statement& statement, const sql::Select& select);
  // Row sets (symbolic_rows.cpp).
  void select_rows(const sql::Select& select);
  void select_into_rows(const sql::Statement& statement, const sql::Select& select);
  void forget_rows(sql::VarId rows);
  void clear_rows(sql::VarId rows);
  void append_row(sql::VarId rows, SmtTerm is_there, std::vector<SymValue> values);
  // The rows of the set that meet WHERE, in the order of the query. Nothing where that is not
  // known.
  std::optional<std::vector<KnownRow>> rows_of_set(const sql::Query& query);
  std::optional<std::vector<Round>> rounds_of_set(const sql::ForQuery& loop);
  static std::shared_ptr<const KnownRows> merge_rows(const Variable& yes, const Variable& no);
  SymValue unknown_value(sql::VarId var);
  void set_array(Variable& variable, SymArray array, SymValue value);
  void bound_extreme(const sql::Query& query, const sql::Output& output, const Selection& selection,
                     const SymValue& best, std::size_t first);
  // What a statement looks for, and what it then does to the rows that it locks, are two things
  // with a snapshot per statement: the search looks at the snapshot; rows that match are locked,
  // looked at again as they are, and must still match. So a row that did not match was read in the
  // snapshot, one that did was read as it is; what the snapshot had decides nothing then, as the
  // statement would do the same at its place in the order of commits.
  bool is_locking(const sql::Query& query) const;
  // The row may be another by now under the same key; then the search has found nothing.
  ConditionId still_there(sql::TableId table);
  void read_found(const sql::Statement& statement, const Search& search, bool reads_presence,
                  const std::set<std::uint32_t>& columns);
  void observe(const sql::Statement& statement, const Search& search, std::uint32_t column,
               ConditionId condition);
  struct Target;  // rows that an UPDATE or DELETE is about
  Target target_of(const sql::SearchedWrite& write);
  // UPDATE … FROM passes over a row that it has changed already.
  ConditionId is_untouched(sql::TableId table);
  // RETURNING, and FOUND. `is_only`: no other row can be returned.
  void return_row(const sql::Write& write, SmtTerm alive, SmtTerm found, const Frame& row,
                  bool is_only);
  // The columns of a row as they are in a frame.
  std::vector<SymValue> values_of(sql::TableId table, const Row& row, const Frame& frame);
  void update(const sql::Statement& statement, const sql::Update& update);
  void remove(const sql::Statement& statement, const sql::Delete& remove);
  void insert(const sql::Statement& statement, const sql::Insert& insert);
  struct Insertion;  // an INSERT on its way
  void propose_row(const sql::Insert& insert, Insertion& insertion);
  void take_advisory(const sql::Statement& statement, const sql::Select& select);
  void set_found(SmtTerm found);
  // Constraints. `new_row` has the row after the statement as its one source.
  // Only constraints that mention the columns; of many rows, no single new or old row.
  void check_parents(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                     const Frame* new_row, const std::set<std::uint32_t>& columns);
  void check_children(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                      const Row* row, const std::set<std::uint32_t>& columns, const Frame& before);
  ConditionId refers_by_key(sql::TableId child, const sql::ForeignKey& key, const Row& lost,
                            const Row* parent);
  bool is_referred_to(sql::TableId table) const;
  void change_many(const sql::Statement& statement, const sql::Update& update, SmtTerm found,
                   SmtTerm alive, ConditionId matches);
  // Sets columns of one row, with all that the constraints look at.
  void change_row(const sql::Statement& statement, sql::TableId table,
                  const std::vector<sql::SetColumn>& sets, const Row& row, SmtTerm guard,
                  const Frame& at);
  // Entries of UNIQUE constraints: each is a location of its own, taken or free.
  struct Entry {
    std::uint32_t unique = 0;
    Row values;
    SmtTerm looks;  // nothing of it is NULL
    SmtTerm taken;
  };
  Entry look_up(const sql::Statement& statement, sql::TableId table, std::uint32_t unique,
                SmtTerm guard, const Frame& new_row, bool looks_once = false);
  // Whether an INSERT finds its key taken.
  SmtTerm key_is_taken(sql::TableId table, const Row& row, const Frame& frame);
  SmtTerm taken_now(sql::TableId table, std::uint32_t unique, const Row& entry, std::uint32_t at);
  // DO NOTHING: a key that is found free stays free until the call commits, one that is taken need
  // not stay so.
  void look_once(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                 const Row& row, SmtTerm looks, SmtTerm is_taken, SmtTerm is_taken_at_end);
  SmtTerm take_entries(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                       const Frame& new_row, const std::set<std::uint32_t>& columns);
  void free_entries(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                    const Frame& old_row, const std::set<std::uint32_t>& columns);
  Row some_row(sql::TableId table, const std::vector<std::uint32_t>& columns, const Row& values,
               SmtTerm condition, const Frame& frame);
  void look_for_key(const sql::Statement& statement, const sql::Insert& insert, bool named,
                    Insertion& insertion);
  void look_for_entries(const sql::Statement& statement, const sql::Insert& insert, bool named,
                        const Frame& new_row, Insertion& insertion);
  SmtTerm update_there(const sql::Statement& statement, const sql::Insert& insert,
                       const Insertion& insertion);
  // A statement that changes many rows: any entries.
  void change_any_entries(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                          const std::set<std::uint32_t>& columns);
  void abort_if(SmtTerm condition) {
    aborted_ = aborted_ || condition;
    alive_ = alive_ && !condition;
  }

  // Accesses. A read of what never changes, or of what the transaction wrote itself, is none.
  void read(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
            SmtTerm guard, const Row& row);
  void read_all(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                SmtTerm guard, ConditionId condition);
  Access& add(Access access);
  bool may_see_current(sql::TableId table, std::uint32_t column) const;
  void write(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
             SmtTerm guard, const Row& row, SymValue value);
  void write_all(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                 SmtTerm guard, ConditionId condition, WrittenValue value);
  void lock(const sql::Statement& statement, sql::TableId table, sql::Lock mode, SmtTerm guard,
            std::optional<Row> row, ConditionId condition = {});
  bool changes(sql::TableId table, std::uint32_t column) const;

  // Control flow.
  struct LoopFrame {
    SmtTerm exited;
    SmtTerm continued;
  };
  // A loop over numbers: FOR, or FOREACH over the indexes of an array.
  struct Counting {
    sql::VarId target;
    SymValue from;
    SymValue to;
    SmtTerm width;
    bool descending = false;
    std::optional<SymArray> list = {};
  };
  void run(std::span<const sql::Statement> body);
  void run(const sql::Statement& statement);
  void begin(const sql::Statement& statement);
  void branch(const sql::If& statement);
  void block(const sql::Block& statement);
  void jump(const sql::Jump& statement, SmtTerm LoopFrame::*where);
  void loop(const sql::Statement& statement);
  // Both return whether there was a round.
  SmtTerm loop_any_two(const sql::Statement& statement);
  SmtTerm loop_at_most_two(const sql::Statement& statement);
  std::vector<Round> rounds_of(const sql::Statement& statement);
  std::vector<Round> rounds_of_query(const sql::Statement& statement, const sql::ForQuery& loop);
  std::vector<Round> rounds_of_while();
  std::vector<Round> rounds_of_numbers(const Counting& counting);
  void assign(const sql::Assign& statement);
  void assign(sql::VarId var, SymValue value);
  void forget(std::span<const sql::Statement> body);
  void disturb(std::span<const sql::Statement> body);
  Env merge(SmtTerm condition, const Env& yes, const Env& no);

  Symbols& symbols_;
  const sql::Function& function_;
  Loops loops_;
  bool keys_are_unknown_;
  bool per_statement_;
  Moments moments_;
  std::uint32_t at_ = 0;          // of the statement that runs
  std::uint32_t reads_at_ = 0;    // the view of reads that are written down
  std::size_t first_access_ = 0;  // of the SQL statement that runs, with all its parts
  std::size_t num_sets_ = 0;      // row sets that were emptied
  Instance& instance_;
  AccessEvaluator terms_;
  Env env_;
  SmtTerm alive_;
  SmtTerm aborted_;
  std::vector<LoopFrame> loop_frames_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> disturbed_;
};

}  // namespace isoscope::audit
