#pragma once
// Which SQL programs can be executed as MariaDB does.
//
// What a statement of InnoDB locks follows from the way in which it looks for rows, and that is the
// choice of an optimizer. It is certain for one row that is named by its primary key; so are plain
// reads, which lock nothing. Everything else is refused with its place: scans with locks,
// sub-queries inside of statements that write, foreign keys, further unique keys, what MariaDB does
// not have.
#include <vector>

#include "sql/run/program.h"

namespace isoscope::sql::server {

// An Error where the program cannot be executed. Else what may mean another thing on MariaDB than
// here, so that an answer about all runs is not certain.
Result<std::vector<Note>> check_innodb(const SqlProgram& program);

}  // namespace isoscope::sql::server
