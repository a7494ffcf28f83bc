#pragma once
// Goes through the parts of a statement, whatever its kind.
#include <type_traits>

#include "sql/statement.h"

namespace isoscope::sql {

// Functions of one argument each, as one that takes any of them.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// Calls `visit` for each list of statements inside of it: body, otherwise.
template <class Visit>
void for_each_body(Statement& statement, const Visit& visit) {
  std::visit(
      [&](auto& kind) {
        if constexpr (requires { kind.body; }) visit(kind.body);
        if constexpr (requires { kind.otherwise; }) visit(kind.otherwise);
        if constexpr (requires { kind.handler; }) {
          if (kind.handler) visit(kind.handler->body);
        }
      },
      statement.kind);
}

template <class S, class Part>
using PartOf = std::conditional_t<std::is_const_v<S>, const Part, Part>;

// Calls `visit` for each expression of the query. Q is Query or const Query.
template <class Q, class Visit>
void for_each_expr_of(Q& query, const Visit& visit) {
  for (auto* expr : {&query.where, &query.limit, &query.offset}) {
    if (*expr) visit(**expr);
  }
  for (auto& output : query.outputs) {
    visit(output.expr);
    if (output.filter) visit(*output.filter);
  }
  for (auto& order : query.order_by) visit(order.expr);
  for (auto& expr : query.distinct_on) visit(expr);
  if (query.group_by) {
    for (auto& expr : *query.group_by) visit(expr);
  }
}

// Calls `visit` for each expression of the statement itself, not of those inside. S is Statement or
// const Statement.
template <class S, class Visit>
void for_each_expr(S& statement, const Visit& visit) {
  const auto one = [&](auto& expr) {
    if (expr) visit(*expr);
  };
  const auto all = [&](auto& exprs) {
    for (auto& expr : exprs) visit(expr);
  };
  const auto sets = [&](auto& list) {
    for (auto& set : list) visit(set.value);
  };
  std::visit(Overloaded{
                 [&](PartOf<S, Select>& s) { for_each_expr_of(s.query, visit); },
                 [&](PartOf<S, ForQuery>& s) { for_each_expr_of(s.query, visit); },
                 [&](PartOf<S, Insert>& s) {
                   one(s.conflict_where);
                   sets(s.sets);
                   sets(s.conflict_sets);
                   all(s.returning);
                 },
                 [&](PartOf<S, Update>& s) {
                   one(s.where);
                   sets(s.sets);
                   all(s.returning);
                   all(s.raises);
                   all(s.raised_states);
                 },
                 [&](PartOf<S, Delete>& s) {
                   one(s.where);
                   all(s.returning);
                 },
                 [&](PartOf<S, Assign>& s) {
                   visit(s.value);
                   one(s.index);
                 },
                 [&](PartOf<S, ForRange>& s) {
                   visit(s.from);
                   visit(s.to);
                   one(s.step);
                 },
                 [&](PartOf<S, ForArray>& s) { visit(s.array); },
                 [&](PartOf<S, If>& s) { visit(s.condition); },
                 [&](PartOf<S, While>& s) { one(s.condition); },
                 [&](PartOf<S, Exit>& s) { one(s.condition); },
                 [&](PartOf<S, Continue>& s) { one(s.condition); },
                 [&](PartOf<S, Return>& s) { one(s.value); },
                 [&](PartOf<S, ReturnRow>& s) { one(s.value); },
                 [&](PartOf<S, Append>& s) { all(s.values); },
                 [](PartOf<S, Raise>&) {},
                 [](PartOf<S, EndTransaction>&) {},
                 [](PartOf<S, Block>&) {},
             },
             statement.kind);
}

}  // namespace isoscope::sql
