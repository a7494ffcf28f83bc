#pragma once
// The variables and clauses of a search in words, for its log (sat/clause_log.h).
//
//     T1 before T2                      a pair of the order
//     T1 before T2 statement 3          the same over co, snap: T1 is in that snapshot
//     T1 visible to T2                  a pair of vis
//     axiom Ser: x = x, t1 = T0, …      an instance, with what its variables stand for
//     order                             the negated literals and facts have a cycle
//
// Names are those of the history that was searched. tests/support/certificate_check.h reads them
// back.
#include <span>
#include <string>
#include <string_view>

#include "check/ground/encode.h"
#include "check/ground/grounder.h"

namespace isoscope {

// Of a clause whose negated literals, with the facts of the history, are a cycle.
inline constexpr std::string_view kOrderReason = "order: no order has this cycle";

// "T1", or "T2 statement 3" over co, snap: a transaction, or a statement that reads.
std::string words_of_point(const Universe& universe, std::size_t point);
std::string words_of_txn(const Universe& universe, std::size_t txn);

// "x = cart, t1 = T0, t3 = T2, r = T2 event 1"; variables without a value are left out.
std::string words_of_binding(const Universe& universe, std::span<const Variable> variables,
                             const Binding& binding);

}  // namespace isoscope
