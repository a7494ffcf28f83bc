#pragma once
// Foreign keys, as the server checks them behind a statement: by queries of their own.
#include "sql/server/statement_run.h"

namespace isoscope::sql::server {

// What the row must refer to: foreign keys of its table whose columns are new.
void add_references(const Application& app, TableId table, const TableRow* from, const TableRow& to,
                    Running& running);
// Who must not refer to the row any more: it goes, or its key does (`to`).
void add_referrers(const Application& app, TableId table, const TableRow& from, const TableRow* to,
                   Running& running);
// Checks them one by one.
Attempt check_references(const StatementContext& context, Running& running);

}  // namespace isoscope::sql::server
