#include "program/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "support/spelling.h"

namespace isoscope::txn {

namespace {

bool is_assignment(const Stmt& statement) {
  return statement.kind == StmtKind::Assign || statement.kind == StmtKind::Read ||
         statement.kind == StmtKind::For;
}

// Calls `visit` for each statement, outer before inner, in the order of the text.
template <class Visit>
void for_each_statement(const Block& block, const Visit& visit) {
  for (const Stmt& statement : block) {
    visit(statement);
    for (const Arm& arm : statement.arms) for_each_statement(arm.body, visit);
    for_each_statement(statement.body, visit);
  }
}

class NameCheck {
 public:
  NameCheck(const Scope& scope, const std::vector<std::string_view>& families)
      : scope_(scope), families_(families) {}

  Result<void> check(const Block& block) {
    for (const Stmt& statement : block) {
      for (const ExprPtr& index : statement.key.indices) check(index.get());
      check(statement.value.get());
      check(statement.last.get());
      if (error_) return *error_;
      for (const Arm& arm : statement.arms) {
        check(arm.condition.get());
        if (error_) return *error_;
        if (auto body = check(arm.body); !body) return body;
      }
      if (auto body = check(statement.body); !body) return body;
    }
    return {};
  }

 private:
  void check(const Expr* expr) {
    if (expr == nullptr || error_) return;
    if (expr->kind == ExprKind::Local) check_name(expr->name);
    for (const ExprPtr& part : expr->parts) check(part.get());
  }

  void check_name(const Name& name) {
    if (scope_.local(name.text) || scope_.constant(name.text)) return;
    if (std::ranges::binary_search(families_, name.text)) {
      error_ = Error{.where = name.place,
                     .what = fmt::format("'{}' is a key: use read({})", name.text, name.text),
                     .hint = fmt::format("read into a local first: v := read({})", name.text)};
      return;
    }
    const std::vector<std::string_view> known = scope_.names();
    error_ =
        Error{.where = name.place,
              .what = fmt::format("unknown name '{}'", name.text),
              .hint = known.empty() ? "this transaction has no locals" : suggest(name.text, known)};
  }

  const Scope& scope_;
  const std::vector<std::string_view>& families_;
  std::optional<Error> error_;
};

}  // namespace

std::optional<std::uint32_t> Scope::local(std::string_view name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> Scope::constant(std::string_view name) const {
  const auto found = constants.find(name);
  return found == constants.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string_view> Scope::names() const {
  std::vector<std::string_view> all = locals;
  for (const auto& entry : constants) all.push_back(entry.first);
  std::ranges::sort(all);
  return all;
}

bool assigns(const Block& block, std::string_view local) {
  bool found = false;
  for_each_statement(block, [&](const Stmt& statement) {
    found = found || (is_assignment(statement) && statement.local.text == local);
  });
  return found;
}

Result<Scope> scope_of(const Definition& definition,
                       const std::vector<std::string_view>& families) {
  std::vector<std::string_view> assigned;
  std::unordered_set<std::string_view> seen;
  for_each_statement(definition.body, [&](const Stmt& statement) {
    if (is_assignment(statement) && seen.insert(statement.local.text).second)
      assigned.push_back(statement.local.text);
  });
  Scope scope;
  const auto add_local = [&](std::string_view name) {
    if (scope.numbers.emplace(name, scope.locals.size()).second) scope.locals.push_back(name);
  };
  for (std::uint32_t i = 0; i < definition.parameters.size(); ++i) {
    const Name& parameter = definition.parameters[i];
    if (scope.local(parameter.text) || scope.constant(parameter.text))
      return Error{.where = parameter.place,
                   .what = fmt::format("two parameters are called '{}'", parameter.text),
                   .hint = ""};
    if (seen.contains(parameter.text)) {
      add_local(parameter.text);
    } else {
      scope.constants.emplace(parameter.text, i);
    }
  }
  for (const std::string_view name : assigned) add_local(name);
  if (auto checked = NameCheck(scope, families).check(definition.body); !checked)
    return checked.error();
  return scope;
}

}  // namespace isoscope::txn
