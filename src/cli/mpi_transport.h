#pragma once
// The processes that mpirun started, for `explore --mpi`. Built where MPI is found; elsewhere
// starting them says so.
#include <memory>

#include "explore/transport.h"
#include "support/result.h"

namespace isoscope {

// Once in a process. MPI ends when the transport does.
Result<std::unique_ptr<explore::Transport>> start_mpi();

}  // namespace isoscope
