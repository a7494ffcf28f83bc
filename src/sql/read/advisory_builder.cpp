// Advisory locks: each call is a statement of its own, before the one that it stands in.
#include <fmt/format.h>

#include <array>

#include "sql/read/query_parts.h"

namespace isoscope::sql {
namespace {

struct LockCall {
  std::string_view name;
  AdvisoryLock lock;
};
constexpr std::array<LockCall, 4> kLockCalls = {
    {{"pg_advisory_xact_lock", {.is_shared = false, .is_tried = false}},
     {"pg_advisory_xact_lock_shared", {.is_shared = true, .is_tried = false}},
     {"pg_try_advisory_xact_lock", {.is_shared = false, .is_tried = true}},
     {"pg_try_advisory_xact_lock_shared", {.is_shared = true, .is_tried = true}}}};

bool is_of_session(std::string_view name) {
  return name == "pg_advisory_lock" || name == "pg_advisory_lock_shared" ||
         name == "pg_try_advisory_lock" || name == "pg_try_advisory_lock_shared" ||
         name == "pg_advisory_unlock" || name == "pg_advisory_unlock_shared" ||
         name == "pg_advisory_unlock_all";
}

}  // namespace

bool stands_alone(Scope& scope, const std::string& name, std::span<const Expr> args, Place place) {
  if (scope.before == nullptr || scope.frame == nullptr) {
    scope.findings.fail(place, fmt::format("{} cannot stand here", name),
                        "call it in a function, with PERFORM");
    return false;
  }
  bool uses_rows = !scope.sources.empty() || scope.outer != nullptr;
  for (const Expr& arg : args) uses_rows = uses_rows || uses_column(arg);
  if (uses_rows) {
    scope.findings.fail(place, fmt::format("{} is called for each row here", name),
                        "a loop with a call inside can be modelled");
    return false;
  }
  if (scope.may_not_run) {
    scope.findings.fail(place, fmt::format("whether {} is called here is not known", name),
                        "call it in a statement of its own");
    return false;
  }
  return true;
}

std::optional<Expr> build_advisory_lock(Scope& scope, const std::string& name,
                                        std::vector<Expr>& args, Place place) {
  if (is_of_session(name)) {
    scope.findings.fail(
        place,
        fmt::format("{} is about locks that outlive the transaction, which are not modelled", name),
        "pg_advisory_xact_lock is modelled");
    return make_null(Type::Integer, place);
  }
  const LockCall* found = nullptr;
  for (const LockCall& call : kLockCalls) {
    if (call.name == name) found = &call;
  }
  if (found == nullptr) return std::nullopt;
  if (args.empty() || args.size() > 2) {
    scope.findings.fail(place, fmt::format("{} takes one number or two", name));
    return make_null(Type::Integer, place);
  }
  if (!stands_alone(scope, name, args, place)) return make_null(Type::Integer, place);
  Select lock{.in_expression = true, .advisory = found->lock};
  for (Expr& arg : args)
    lock.query.outputs.push_back(
        {.expr = adapt(scope, std::move(arg), Type::Integer, false, name)});
  const Type type = found->lock.is_tried ? Type::Boolean : Type::Text;
  const VarId var = scope.frame->add_hidden("lock", type, false, place);
  lock.targets = {var};
  scope.before->push_back(model_in(scope, place).with(std::move(lock)));
  return make_variable(*scope.frame, var, place);
}

}  // namespace isoscope::sql
