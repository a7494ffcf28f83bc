#pragma once
// A part of a history as a history of its own.
#include <span>

#include "history/history.h"

namespace isoscope {

// The history of just these transactions (T0 need not be named), with their names, places and
// session order. An external read whose writer is left out is left out too, so that every read
// still has its writer. At every built-in level but nlu a violated part means a violated whole:
// leaving out transactions and reads only takes demands away. (At nlu, whoever is left out may
// stand between two writers, of which the later then has a new latest earlier one.)
History restrict_to(const History& h, std::span<const TxnId> keep);

// The same with just these events of those transactions, in ascending order. A read whose
// writer's write is left out is left out too; an overwritten write may become a final one.
History restrict_to(const History& h, std::span<const TxnId> keep, std::span<const EventId> events);

}  // namespace isoscope
