#pragma once
// What a translation finds out about the program besides its meaning: the first thing that it
// cannot model, and notes on what it models roughly.
//
// A translation goes on after a failure with whatever is at hand, and its result is thrown away;
// so every step can be written as if it succeeded. A budget that is over is a failure, too: whoever
// does much asks failed() in between.
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sql/application.h"
#include "support/budget.h"

namespace isoscope::sql {

class Findings {
 public:
  explicit Findings(std::string function = {}, Budget* budget = nullptr)
      : function_(std::move(function)), budget_(budget) {}

  // Keeps the first failure.
  void fail(Place where, std::string what, std::string hint = {}) {
    if (!error_) error_ = Error{.where = where, .what = std::move(what), .hint = std::move(hint)};
  }
  // Once for each text. `table` and `columns`: as in Note.
  void note(Place where, std::string what, NoteKind kind, std::optional<TableId> table = {},
            std::optional<std::vector<ColumnId>> columns = {}) {
    if (!told_.emplace(table, what, kind).second) return;
    notes_.push_back({where, function_, std::move(what), kind, table, std::move(columns)});
  }
  // The tables have got these numbers; none() stands for one that is no more.
  void renumber(const std::vector<TableId>& now) {
    told_.clear();
    for (Note& note : notes_) {
      if (note.table && !note.table->is_none()) note.table = now[note.table->index];
      told_.emplace(note.table, note.what, note.kind);
    }
  }
  bool failed() {
    if (!error_ && budget_ != nullptr && budget_->expired())
      error_ = limit_error("reading the program");
    return error_.has_value();
  }
  // Requires: failed().
  const Error& error() const { return *error_; }
  const std::vector<Note>& notes() const { return notes_; }

 private:
  std::string function_;
  Budget* budget_;
  std::optional<Error> error_;
  std::vector<Note> notes_;
  // What the notes say, each once.
  std::set<std::tuple<std::optional<TableId>, std::string, NoteKind>> told_;
};

}  // namespace isoscope::sql
