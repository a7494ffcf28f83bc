#pragma once
// The scope options that synth and compare share.
#include <string>

#include "synth/synth.h"

namespace CLI {
class App;
}

namespace isoscope {

struct ScopeInput {
  Scope scope;
  bool no_blind_writes = false;
  std::string statements = "any";
  std::string sessions = "chains";
  int most_txns = 5;  // how far the scope grows by itself

  // `txns_help` says what --txns means to the command.
  void add_to(CLI::App& app, const char* txns_help);
  // The scope with its switches. One that must be complete has its number of transactions, and as
  // many keys unless it states them.
  Result<Scope> complete(bool must_be_complete) const;
};

}  // namespace isoscope
