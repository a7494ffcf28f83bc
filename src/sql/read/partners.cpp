// UPDATE … FROM: which of several rows of FROM a row is changed by is the server's choice.
#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "sql/read/write_builder.h"

namespace isoscope::sql {
namespace {

// Is one side the variable, and the other one free of `open`?
bool fixes(const Expr& condition, VarId var, const std::set<VarId>& open) {
  if (condition.op != ExprOp::Equal) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Expr& of = condition.args[side];
    if (of.op == ExprOp::Variable && of.var == var &&
        !mentions_variable(condition.args[1 - side], open))
      return true;
  }
  return false;
}

class Partners {
 public:
  Partners(const Scope& scope, std::span<const Expr> conditions)
      : scope_(scope), conditions_(conditions) {
    for (std::size_t s = 1; s < scope.sources.size(); ++s) {
      if (scope.sources[s].bound == nullptr) continue;
      unknown_.push_back(s);
      for (const auto& [column, var] : scope.sources[s].bound->columns) open_.insert(var);
    }
  }

  // The columns of rows of FROM that no unique key fixes for a row of the table.
  std::set<VarId> run() {
    while (std::erase_if(unknown_, [&](std::size_t s) { return is_one(scope_.sources[s]); }) > 0) {
    }
    return open_;
  }

 private:
  // Then its columns are no longer open.
  bool is_one(const Source& source) {
    if (source.table.is_none()) return false;
    const Table& table = scope_.catalog.table(source.table);
    const auto is_fixed = [&](ColumnId column) {
      const auto var = source.bound->find(column);
      return var && std::ranges::any_of(conditions_, [&](const Expr& condition) {
               return fixes(condition, *var, open_);
             });
    };
    const auto is_fixed_key = [&](const std::vector<ColumnId>& key) {
      return !key.empty() && std::ranges::all_of(key, is_fixed);
    };
    if (!is_fixed_key(table.primary_key) && std::ranges::none_of(table.unique, is_fixed_key))
      return false;
    for (const auto& [column, var] : source.bound->columns) open_.erase(var);
    return true;
  }

  const Scope& scope_;
  std::span<const Expr> conditions_;
  std::vector<std::size_t> unknown_;
  std::set<VarId> open_;
};

}  // namespace

void WriteBuilder::note_partners(const Scope& scope, std::span<const Expr> conditions,
                                 const std::vector<SetColumn>& sets) {
  const std::set<VarId> open = Partners(scope, conditions).run();
  const auto is_open = [&](const Expr& expr) { return mentions_variable(expr, open); };
  if (std::ranges::any_of(sets, [&](const SetColumn& set) { return is_open(set.value); }) ||
      std::ranges::any_of(returning_, is_open))
    scope_.findings.note(model_.place,
                         "which of several rows of FROM a row is changed by is the server's choice",
                         NoteKind::Gap);
}

}  // namespace isoscope::sql
