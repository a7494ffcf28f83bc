#pragma once
// Recordings and errors as bytes. Keys travel with their names, because each process numbers them
// in the order in which it meets them. Requires: indices have no names of their own, as they have
// in SQL programs.
#include "explore/packing.h"
#include "store/recording.h"
#include "support/error.h"

namespace isoscope::explore {

void pack(Packer& out, const Executable& program, const store::Recording& run);
store::Recording unpack_recording(Unpacker& in, const Executable& program);

void pack(Packer& out, const Error& error);
Error unpack_error(Unpacker& in);

// The keys of a run that is kept for longer than it is on a path.
void keep_keys(const Executable& program, const store::Recording& run);

}  // namespace isoscope::explore
