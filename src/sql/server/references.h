#pragma once
// Foreign keys, as the server checks them behind a statement: by queries of their own.
#include "sql/server/statement_run.h"

namespace isoscope::sql::server {

// Adds to the checks of the statement: the rows that `to` must refer to, by those foreign keys of
// its table whose columns are new.
void add_references(const Application& app, TableId table, const TableRow* from, const TableRow& to,
                    Running& running);
// Adds the rows that must no longer refer to `from`, which is deleted, or gets another key as `to`.
void add_referrers(const Application& app, TableId table, const TableRow& from, const TableRow* to,
                   Running& running);
// Checks them one by one.
Attempt check_references(const StatementContext& context, Running& running);

}  // namespace isoscope::sql::server
