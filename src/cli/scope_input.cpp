#include "cli/scope_input.h"

#include <CLI/CLI.hpp>

#include "cli/values.h"

namespace isoscope {

void ScopeInput::add_to(CLI::App& app, const char* txns_help) {
  const auto size = [&](const char* name, int& value, int most, const char* help) {
    return app.add_option(name, value, help)->type_name("N")->check(whole_number(1, most));
  };
  auto* txns = size("--txns", scope.txns, kMaxSynthTxns, txns_help);
  size("--keys", scope.keys, kMaxSynthKeys,
       "at most N keys (default: as many as transactions, or as the axioms name)");
  // More than any history in such a scope can use.
  constexpr int kEnough = 1'000;
  size("--values", scope.values, kEnough, "at most N values of a key, the initial one included");
  size("--ops", scope.ops, kEnough, "at most N operations of a transaction");
  app.add_option("--most-txns", most_txns, "without --txns: how far to grow")
      ->type_name("N")
      ->check(whole_number(1, kMaxSynthTxns))
      ->capture_default_str()
      ->excludes(txns);
  app.add_flag("--no-blind-writes", no_blind_writes,
               "a transaction that writes a key reads it too");
  app.add_flag("--empty-txns", scope.empty_txns, "a transaction may do nothing");
  app.add_option("--sessions", sessions, "sessions are chains, or any partial order")
      ->type_name("chains|partial-order")
      ->check(one_of({"chains", "partial-order"}))
      ->capture_default_str();
  app.add_option("--statements", statements,
                 "where a level speaks of statements: all histories, or those without inserts, "
                 "without inserts and locks, or with each operation in a statement of its own")
      ->type_name("any|no-inserts|no-locks|single")
      ->check(one_of({"any", "no-inserts", "no-locks", "single"}))
      ->capture_default_str();
}

Result<Scope> ScopeInput::complete(bool must_be_complete) const {
  Scope result = scope;
  result.blind_writes = !no_blind_writes;
  result.sessions = sessions == "chains" ? SessionShape::Chains : SessionShape::PartialOrder;
  result.statements = statements == "single"       ? StatementShape::Single
                      : statements == "no-locks"   ? StatementShape::NoLocks
                      : statements == "no-inserts" ? StatementShape::NoInserts
                                                   : StatementShape::Any;
  if (must_be_complete && result.txns == 0)
    return Error{.what = "--count needs a scope",
                 .hint = "give --txns N, and --keys N if you like"};
  if (must_be_complete && result.keys == 0) result.keys = result.txns;
  return result;
}

}  // namespace isoscope
