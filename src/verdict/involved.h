#pragma once
// Whom and what a violation is about.
#include <vector>

#include "history/history.h"
#include "verdict/verdict.h"

namespace isoscope {

// The transactions of a violation in order of appearance, those behind forced edges included.
std::vector<TxnId> involved_txns(const History& h, const Violation& violation);
// The keys that its edges or its fault mention.
std::vector<KeyId> involved_keys(const History& h, const Violation& violation);

}  // namespace isoscope
