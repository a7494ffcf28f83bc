#pragma once
// Arithmetic of programs on 64-bit integers: the same for constants, which the compiler computes,
// and for what only the machine knows.
#include <cstdint>
#include <limits>
#include <optional>

#include "program/code.h"

namespace isoscope {

// The quotient rounded towards minus infinity, 0 for a zero divisor.
// Requires: not the one division that overflows.
inline std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// The remainder that goes with it: of the divisor's sign, 0 for a zero divisor.
inline std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;  // the hardware traps on the smallest number % -1
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

inline bool quotient_overflows(std::int64_t a, std::int64_t b) {
  return b == -1 && a == std::numeric_limits<std::int64_t>::min();
}

// to := op a, or a op b. Nothing on overflow. Requires: `op` computes.
std::optional<std::int64_t> compute(Op op, std::int64_t a, std::int64_t b);

// The sign of an operator, for messages.
const char* sign_of(Op op);

}  // namespace isoscope
