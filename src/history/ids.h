#pragma once
// The ids of a history. Each is a position in a dense table of that history.
#include "support/id.h"

namespace isoscope {

using SessionId = Id<struct SessionTag>;
using TxnId = Id<struct TxnTag>;  // in file order; index 0 is T0, which wrote the initial values
using EventId = Id<struct EventTag>;  // grouped by transaction, in program order within one
using KeyId = Id<struct KeyTag>;      // in order of first appearance
using RowId = Id<struct RowTag>;      // in order of their first keys; see History::row()

inline constexpr TxnId kInitialTxn{0};

}  // namespace isoscope
