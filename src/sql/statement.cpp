#include "sql/statement.h"

#include <algorithm>

namespace isoscope::sql {
namespace {

// The kinds that have it call it the same: a new one with a body has one here.
template <class Statements, class Kinds>
Statements body_of(Kinds& kinds) {
  return std::visit(
      [](auto& kind) -> Statements {
        if constexpr (requires { kind.body; }) {
          return kind.body;
        } else {
          return {};
        }
      },
      kinds);
}

template <class Statements, class Kinds>
Statements otherwise_of(Kinds& kinds) {
  return std::visit(
      [](auto& kind) -> Statements {
        if constexpr (requires { kind.otherwise; }) {
          return kind.otherwise;
        } else if constexpr (requires { kind.handler; }) {
          if (kind.handler) return kind.handler->body;
          return {};
        } else {
          return {};
        }
      },
      kinds);
}

template <class Variables, class Kinds>
Variables targets_of(Kinds& kinds) {
  return std::visit(
      [](auto& kind) -> Variables {
        if constexpr (requires { kind.targets; }) {
          return kind.targets;
        } else if constexpr (requires { kind.target; }) {
          return {&kind.target, 1};
        } else if constexpr (requires { kind.rows; }) {
          return {&kind.rows, 1};
        } else if constexpr (requires { kind.handler; }) {
          if (kind.handler) return kind.handler->targets;
          return {};
        } else {
          return {};
        }
      },
      kinds);
}

template <class Q, class S>
Q* query_of(S& statement) {
  if (auto* select = statement.template find<Select>()) return &select->query;
  if (auto* loop = statement.template find<ForQuery>()) return &loop->query;
  return nullptr;
}

template <class W, class S>
W* searched_of(S& statement) {
  if (auto* update = statement.template find<Update>()) return update;
  return statement.template find<Delete>();
}

}  // namespace

const Query* Statement::query() const { return query_of<const Query>(*this); }
Query* Statement::query() { return query_of<Query>(*this); }

const Write* Statement::write() const {
  if (const auto* insert = find<Insert>()) return insert;
  return searched();
}
Write* Statement::write() {
  if (auto* insert = find<Insert>()) return insert;
  return searched();
}

const SearchedWrite* Statement::searched() const { return searched_of<const SearchedWrite>(*this); }
SearchedWrite* Statement::searched() { return searched_of<SearchedWrite>(*this); }

std::span<const VarId> Statement::targets() const {
  return targets_of<std::span<const VarId>>(kind);
}
std::span<VarId> Statement::targets() { return targets_of<std::span<VarId>>(kind); }

std::optional<VarId> Statement::into_rows() const {
  if (const auto* select = find<Select>()) return select->into_rows;
  return write() != nullptr ? write()->into_rows : std::nullopt;
}

std::span<const Statement> Statement::body() const {
  return body_of<std::span<const Statement>>(kind);
}
std::span<Statement> Statement::body() { return body_of<std::span<Statement>>(kind); }

std::span<const Statement> Statement::otherwise() const {
  return otherwise_of<std::span<const Statement>>(kind);
}
std::span<Statement> Statement::otherwise() { return otherwise_of<std::span<Statement>>(kind); }

bool Insert::names_key(const std::vector<ColumnId>& key) const {
  if (conflict == OnConflict::Fail) return false;
  if (conflict_key.empty()) return conflict_indexes.empty();
  return std::ranges::is_permutation(conflict_key, key);
}

bool Insert::names_index(ExclusionId index) const {
  if (conflict == OnConflict::Fail) return false;
  if (conflict_key.empty() && conflict_indexes.empty()) return true;
  return std::ranges::find(conflict_indexes, index) != conflict_indexes.end();
}

std::optional<SequenceId> Statement::draws() const {
  const auto* select = find<Select>();
  return select != nullptr ? select->draws : std::nullopt;
}

const AdvisoryLock* Statement::advisory() const {
  const auto* select = find<Select>();
  return select != nullptr && select->advisory ? &*select->advisory : nullptr;
}

bool Statement::is_separate() const {
  const auto* block = find<Block>();
  return block != nullptr && block->is_separate;
}

bool Statement::catches() const {
  const auto* block = find<Block>();
  return block != nullptr && block->handler.has_value();
}

namespace {

// Is there a way out of these statements but for their end and RAISE?
bool may_leave(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    if (s.is<Return>() || s.is<Exit>() || s.is<Continue>() || s.is<EndTransaction>() || s.catches())
      return true;
    return may_leave(s.body()) || may_leave(s.otherwise());
  });
}

// Does RAISE end every way through them? Requires: they cannot be left otherwise. Loops need not
// run.
bool always_raises(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    if (s.is<If>()) return always_raises(s.body()) && always_raises(s.otherwise());
    return s.is<Raise>() || (s.is<Block>() && always_raises(s.body()));
  });
}

}  // namespace

bool Statement::may_recover() const {
  return catches() && (may_leave(handler()) || !always_raises(handler()));
}

std::span<const Statement> Statement::handler() const {
  if (!catches()) return {};
  return as<Block>().handler->body;
}

const Statement* find_end_of_transaction(std::span<const Statement> body) {
  for (const Statement& statement : body) {
    if (statement.is<EndTransaction>()) return &statement;
    for (const auto inner : {statement.body(), statement.otherwise(), statement.handler()}) {
      if (const Statement* found = find_end_of_transaction(inner)) return found;
    }
  }
  return nullptr;
}

const Statement* next_branch(const If& branch) {
  const auto& otherwise = branch.otherwise;
  return !otherwise.empty() && otherwise.back().is<If>() ? &otherwise.back() : nullptr;
}

}  // namespace isoscope::sql
