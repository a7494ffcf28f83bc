#pragma once
// The processes that mpirun started, for `explore --mpi`. It is built where MPI is found; elsewhere
// start_mpi() returns an error.
#include <memory>

#include "explore/transport.h"
#include "support/result.h"

namespace isoscope {

// To be called at most once per process. MPI is shut down with the transport.
Result<std::unique_ptr<explore::Transport>> start_mpi();

}  // namespace isoscope
