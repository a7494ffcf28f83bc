#include "cli/exit_code.h"

namespace isoscope {

int exit_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::Consistent: return kGood;
    case Outcome::Violated: return kInteresting;
    case Outcome::Unknown: break;
  }
  return kUnknown;
}

}  // namespace isoscope
