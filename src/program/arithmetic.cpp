#include "program/arithmetic.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope {

std::optional<std::int64_t> compute(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::Copy: return a;
    case Op::Negate:
      if (__builtin_sub_overflow(std::int64_t{0}, a, &result)) return std::nullopt;
      return result;
    case Op::Not: return a == 0;
    case Op::Multiply:
      if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Op::Divide:
      if (quotient_overflows(a, b)) return std::nullopt;
      return floor_quotient(a, b);
    case Op::Modulo: return floor_remainder(a, b);
    case Op::Add:
      if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Op::Subtract:
      if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Op::BitAnd: return a & b;
    case Op::BitXor: return a ^ b;
    case Op::BitOr: return a | b;
    case Op::Equal: return a == b;
    case Op::NotEqual: return a != b;
    case Op::Less: return a < b;
    case Op::LessEqual: return a <= b;
    case Op::Greater: return a > b;
    case Op::GreaterEqual: return a >= b;
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    default: ISO_ASSERT(false); return std::nullopt;
  }
}

const char* sign_of(Op op) {
  switch (op) {
    case Op::Negate:
    case Op::Subtract: return "-";
    case Op::Multiply: return "*";
    case Op::Divide: return "/";
    case Op::Add: return "+";
    default: return "?";
  }
}

}  // namespace isoscope
