#pragma once
// Finds the rows that meet a WHERE, looking at no more of them than it must.
//
// WHERE is a conjunction; each part is decided as soon as its rows are bound, and cheap parts go
// first. For a candidate row:
//
//     parts over key columns        decide whether the row is looked at at all
//     is it there?                  a read
//     parts over static columns     no access: no transaction changes these (changes.h)
//     the other parts               all columns that they mention are read, then they are decided
//
// A row whose whole key is given by equalities is looked up; others are sought among
// Database::rows(). In a join the source that is bound by key goes first, else the first of FROM.
#include <functional>
#include <optional>
#include <vector>

#include "sql/run/call_state.h"

namespace isoscope::sql {

class Matcher {
 public:
  // Requires: the arguments outlive it.
  Matcher(StatementView& view, ById<SourceId, TableId> sources, const Expr* where);

  // In which order the rows of the only source are considered; ascending by key by default.
  // Requires: one source.
  using Before = std::function<bool(const RowKey&, const RowKey&)>;
  void consider_in_order(Before before) { before_ = std::move(before); }

  // Calls `found` for each match until it returns false. Errors are those of expressions, and of
  // `found`.
  using Found = std::function<Result<bool>(Tuple&)>;
  Result<void> for_each(const Found& found);

  // Tells the database which rows match, before a statement changes or locks them, if it asks; then
  // true.
  static Result<bool> search_first(CallState& call, const ById<SourceId, TableId>& sources,
                                   const Expr* where);

  // The key of the only row that can match, without a look at the database: for a WHERE that gives
  // the whole key of the only source and says nothing about other columns. Nothing otherwise.
  struct ByKey {
    std::optional<RowKey> key;  // nothing: no row can match
  };
  Result<std::optional<ByKey>> only_key();

 private:
  struct Part {
    const Expr* expr = nullptr;
    ById<SourceId, bool> mentions;
  };

  void split(const Expr& where);
  bool is_decidable(const Part& part) const;
  bool mentions_only_keys(const Part& part, SourceId source) const;
  bool is_static(const Part& part) const;
  // For each key column of the source an expression over bound rows that it equals, or null.
  std::vector<const Expr*> key_terms(SourceId source) const;
  SourceId next_source() const;
  Result<std::vector<RowKey>> candidates(SourceId source);
  // Are all these parts true? Nothing is read for parts after the first that is not.
  Result<bool> holds(const std::vector<const Part*>& parts);
  Result<bool> meets(SourceId source, const std::vector<const Part*>& parts);
  void read_columns(const std::vector<const Part*>& parts);
  // Goes on with one more source bound. Returns false if `found` wants no more.
  Result<bool> extend(std::size_t num_bound, const Found& found);

  StatementView& view_;
  CallState& call_;
  Tuple tuple_;
  std::vector<Part> parts_;
  ById<SourceId, bool> is_bound_;
  Before before_;
};

}  // namespace isoscope::sql
