#pragma once
// isoscope generate program WORKLOAD …
#include "cli/command.h"

namespace isoscope {

// Declares the arguments on `app`, which is the subcommand `program` of generate.
Run add_generate_program(CLI::App& app);

}  // namespace isoscope
