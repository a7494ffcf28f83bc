#pragma once
// Transactions that stand in a file as they are sent: BEGIN; … COMMIT;
//
//     -- transaction withdraw
//     BEGIN;
//     SELECT balance FROM account WHERE id = :id FOR UPDATE;
//     UPDATE account SET balance = balance - :amount WHERE id = :id;
//     COMMIT;
//
// Each becomes a Function whose parameters are the names with a colon, or $1, $2, …; their types
// are those of their first uses. What its SELECTs give is returned.
#include <string>
#include <string_view>
#include <vector>

#include "sql/application.h"
#include "sql/read/catalog.h"
#include "sql/read/findings.h"
#include "sql/read/source_text.h"

namespace isoscope::sql {

// A name with a colon, as psql and drivers have it, and the parameter that stands there instead.
struct NamedParameter {
  std::size_t offset = 0;
  std::string name;
  std::uint32_t number = 0;  // from 1, in its transaction
};

// Replaces :name, :'name' and :"name" by parameters of the same length. Numbers begin again behind
// each BEGIN.
std::string with_numbered_parameters(std::string text, std::vector<NamedParameter>& parameters);

// One statement of a script.
struct ScriptStatement {
  std::string kind;
  const Tree* node = nullptr;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// The statements between BEGIN and COMMIT.
struct Script {
  std::string name;
  std::string level;  // of BEGIN or SET TRANSACTION; empty if they say none
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<ScriptStatement> statements;
};

// Nothing, and a failure in `findings`, if it uses what we do not model.
std::optional<Function> build_script(const Script& script,
                                     const std::vector<NamedParameter>& parameters,
                                     const SourceFile& file, Catalog& catalog, Findings& findings);

}  // namespace isoscope::sql
