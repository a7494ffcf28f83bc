// What a statement and the subqueries and calls in it come to, as one SQL statement of the server:
// which of their statements continue it, and which functions run by another snapshot.
#include <algorithm>

#include "sql/read/query_builder.h"

namespace isoscope::sql {

namespace {

// Every SQL statement in there continues the one that has begun; functions that are called have
// snapshots of their own.
void continue_all(std::span<Statement> body) {
  for (Statement& statement : body) {
    if (statement.is_separate()) continue;
    if (statement.is_sql()) statement.continues = true;
    continue_all(statement.body());
    continue_all(statement.otherwise());
  }
}

// Does it matter when, or whether, they run?
bool has_effect(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    return s.is_sql() || s.is<Raise>() || has_effect(s.body()) || has_effect(s.otherwise());
  });
}

// Can it end the transaction, or wait?
bool may_fail(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    const auto* select = s.find<Select>();
    return s.is<Raise>() || (select != nullptr && (select->strict || select->advisory)) ||
           s.is_separate() || s.write() != nullptr || s.lock() != Lock::None ||
           may_fail(s.body()) || may_fail(s.otherwise());
  });
}

// The table whose rows the loop locks, one by one; none for other statements.
TableId locked_by(const Statement& statement) {
  const auto* loop = statement.find<ForQuery>();
  const bool locks =
      loop != nullptr && loop->query.lock == Lock::Update && loop->query.sources.size() == 1;
  return locks ? loop->query.sources.front() : TableId::none();
}

// Does any of them look at the table, or change it?
bool touches(std::span<const Statement> body, TableId table) {
  return std::ranges::any_of(body, [&](const Statement& s) {
    const auto* select = s.find<Select>();
    const auto* loop = s.find<ForQuery>();
    const Query* query = select != nullptr ? &select->query
                         : loop != nullptr ? &loop->query
                                           : nullptr;
    return (query != nullptr && std::ranges::find(query->sources, table) != query->sources.end()) ||
           (s.write() != nullptr && s.write()->table == table) || touches(s.body(), table) ||
           touches(s.otherwise(), table);
  });
}

// `calls` are those that the statement has made so far.
void mark_calls(std::span<Statement> body, std::vector<Block*>& calls,
                TableId locked = TableId::none(), bool is_in_loop = false) {
  for (Statement& statement : body) {
    if (statement.is_separate()) {
      if (has_effect(statement.body())) calls.push_back(statement.find<Block>());
      continue;
    }
    // An INSERT has no use for a snapshot, nor has the DELETE of a row that is locked.
    const auto* remove = statement.find<Delete>();
    const bool is_of_row =
        remove != nullptr && remove->once && !locked.is_none() && remove->table == locked;
    if (statement.is_sql() && !statement.is<Insert>() && !is_of_row) {
      for (Block* call : calls) call->is_rough = true;
    }
    // Of INSERT … SELECT: the server calls for a row when those before it are there.
    if (const auto* insert = statement.find<Insert>(); insert != nullptr && is_in_loop) {
      for (Block* call : calls) call->is_rough |= touches(call->body, insert->table);
    }
    // The second round of a loop follows the first.
    for (int round = 0; round < (statement.is_loop() ? 2 : 1); ++round)
      mark_calls(statement.body(), calls,
                 locked_by(statement).is_none() ? locked : locked_by(statement),
                 is_in_loop || statement.is_loop());
    mark_calls(statement.otherwise(), calls, locked, is_in_loop);
  }
}

}  // namespace

bool has_sql(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    return s.is_sql() || has_sql(s.body()) || has_sql(s.otherwise());
  });
}

void mark_calls_as_rough(std::span<Statement> statements) {
  for (Statement& statement : statements) {
    if (auto* block = statement.find<Block>()) {
      // What a STABLE function asks for, it asks of the snapshot of its statement, like a subquery.
      const bool matters = block->is_separate ? has_effect(block->body) : may_fail(block->body);
      block->is_rough = block->is_rough || matters;
      continue;
    }
    mark_calls_as_rough(statement.body());
    mark_calls_as_rough(statement.otherwise());
  }
}

void make_one_statement(Frame& frame, std::vector<Statement>& before,
                        std::vector<Statement>& made) {
  std::vector<Block*> calls;
  mark_calls(before, calls);
  mark_calls(made, calls);
  bool has_begun = false;
  for (std::vector<Statement>* list : {&before, &made}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      Statement* statement = &(*list)[i];
      if (statement->is_separate()) continue;
      const bool is_sql = statement->is_sql();
      const bool is_deep = has_sql(statement->body()) || has_sql(statement->otherwise());
      if (!is_sql && !is_deep) continue;
      if (!is_sql && !has_begun) {
        // The first query is inside of a loop or a branch: the snapshot is taken before it.
        Select begin{.targets = {frame.add_hidden("begin", Type::Boolean, false, statement->place)},
                     .in_expression = true,
                     .exists = true};
        list->insert(
            list->begin() + static_cast<std::ptrdiff_t>(i),
            {.place = statement->place, .text = statement->text, .kind = std::move(begin)});
        statement = &(*list)[++i];
      } else if (is_sql) {
        statement->continues = has_begun;
      }
      has_begun = true;
      continue_all(statement->body());
      continue_all(statement->otherwise());
    }
  }
}

}  // namespace isoscope::sql
