#include "verdict/verdict.h"

namespace isoscope {

std::string_view name_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::So: return "so";
    case EdgeKind::Wr: return "wr";
    case EdgeKind::Ww: return "ww";
    case EdgeKind::Rw: return "rw";
    case EdgeKind::Co: return "co";
    case EdgeKind::Vis: return "vis";
    case EdgeKind::Ar: return "ar";
    case EdgeKind::Rt: return "rt";
  }
  return {};
}

Verdict Verdict::consistent(Witness witness) {
  Verdict verdict;
  verdict.outcome = Outcome::Consistent;
  verdict.witness = std::move(witness);
  return verdict;
}

Verdict Verdict::violated(Violation violation) {
  Verdict verdict;
  verdict.outcome = Outcome::Violated;
  verdict.violation = std::move(violation);
  return verdict;
}

Verdict Verdict::unknown(std::string limit) {
  Verdict verdict;
  verdict.outcome = Outcome::Unknown;
  verdict.limit = std::move(limit);
  return verdict;
}

}  // namespace isoscope
