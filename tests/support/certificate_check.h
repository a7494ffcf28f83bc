#pragma once
// Verifies certificates of `check` and `synth` (docs/certificates.md), for the tests.
//
//   the proof        by support/drat_check.h
//   definitions      each clause of a gate states a direction of what the table says of it
//   check            order and vis: the negated literals and facts have a cycle; or two words say
//                    it
//                    axioms: in every execution of a small history (in many of a larger one) a
//                    clause of an axiom is false only where the literal evaluator refuses that
//                    axiom
//   synth            in every history of a small scope (in many of a larger one) a clause about
//                    the history holds; one of an allowed level is false only where the evaluator
//                    refuses that level; one of a forbidden level only where it accepts it. A
//                    refuted candidate is accepted by the evaluator with the witness that is named,
//                    and is excluded by its clause
//
// Solvers and engines are not asked.
#include <cstddef>
#include <optional>
#include <string>

namespace isoscope {

struct CertificateFacts {
  std::size_t answers = 0;     // with a proof or a cycle
  std::size_t sat = 0;         // those with a proof
  std::size_t added = 0;       // clauses that were added on the way
  std::size_t executions = 0;  // tried, of all histories
  std::size_t refused = 0;     // pairs of an execution and a false clause that were compared
  std::size_t histories = 0;   // of scopes
  std::size_t candidates = 0;  // refuted, looked at
};

// What is wrong with it, or nothing.
std::optional<std::string> check_certificate(const std::string& text,
                                             CertificateFacts* facts = nullptr);

}  // namespace isoscope
