#pragma once
// What distinguishes states of a Machine, and histories.
#include "sql/server/machine.h"

namespace isoscope::sql::server {

// Equal for states from which the same can follow and that have the same history so far. In which
// order independent steps were taken makes no difference, unless it shows in the order of a scan.
Digest digest_of(const Machine& machine, const State& state);

// Of a finished run: for each call how it ended, and for each of its statements which rows it read,
// from whom, and what it returned.
Digest history_of(const State& state);

// Of one statement, by what it read and returned: by keys and writers, not by places in storage.
Digest digest_of(const Application& app, const Storage& storage, const StatementResult& result);

}  // namespace isoscope::sql::server
