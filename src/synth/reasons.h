#pragma once
// The variables and clauses of a search in words, for its log (sat/clause_log.h).
//
//     T1 writes x, T2 reads x from T1, T1 before T2 in a session, …      facts of the history
//     history: …       what every history of the scope is like
//     names: …         keys are interchangeable, so that one naming of them is enough
//     allow ser        its witness serves an allowed level
//     forbid si        no witness serves a forbidden level: an instance, for one witness; if a
//                      candidate led to it, that candidate and the witness by which si allows it
//
// tests/support/certificate_check.h reads them back.
#include <string>

#include "synth/decode.h"
#include "synth/facts.h"

namespace isoscope::synthesis {

// As the names of a history: x, y, z, …
std::string key_name(int x);

std::string words_of(const Facts& facts, const Facts::Meaning& meaning);

// "T0 T2 T1", with vis and snapshots if it has any, in the numbers of the scope.
std::string words_of(const FoundWitness& witness);

// "refuted candidate 3 7 12: s1: [w(x,1)]; s2: [r(x,1)]; allowed by co T0 T1 T2": the variables
// that are true in it, the history, and the witness of the level in the history's own names.
std::string words_of_refuted(const Circuit& circuit, const Facts& facts, const Candidate& candidate,
                             const Level& level, const FoundWitness& counterexample);

}  // namespace isoscope::synthesis
