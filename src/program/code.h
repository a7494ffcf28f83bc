#pragma once
// The code of one transaction: a row of instructions over numbered registers.
//
// Front ends (.txn text, SQL) compile each call on its own, with its arguments as constants, so
// that most keys are known before the program runs. Registers are, in this order:
//
//     locals | what else is state (kStateWords) | constants | intermediate results
//
// so that the state of a transaction between two accesses is the first of them. Intermediate
// results mean nothing across a database access.
//
// Locks and statements mean something on a server only (sql/server); elsewhere they are passed
// over.
//
// Arithmetic is on 64-bit integers. An overflow is a fault; `/` and `%` round towards minus
// infinity and give 0 for a zero divisor; comparisons give 1 or 0.
#include <cstdint>
#include <string>
#include <vector>

#include "program/keys.h"
#include "support/error.h"

namespace isoscope {

using Register = std::uint16_t;

// Behind the locals: the next instruction, the rounds of loops so far, and 1 + the number of the
// first assertion that failed, or 0. Only the interpreter uses them.
inline constexpr std::size_t kStateWords = 3;

enum class Op : std::uint8_t {
  Constant,  // to := number
  Copy,      // to := a
  Negate,
  Not,  // to := op a
  Multiply,
  Divide,
  Modulo,
  Add,
  Subtract,
  BitAnd,
  BitXor,
  BitOr,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Min,
  Max,           // to := a op b
  Jump,          // to instruction `number`
  JumpBack,      // the same, at the end of a loop's round; rounds are counted
  JumpIfZero,    // if a = 0
  JumpIfTrue,    // if a != 0
  ReadKey,       // to := the key `number`
  ReadIndexed,   // to := the key that key term `number` names
  WriteKey,      // the key `number` := a
  WriteIndexed,  // the key that key term `number` names := a
  LockKey,       // the key `number`
  LockIndexed,   // the key that key term `number` names
  ShareKey,      // the same, shared
  ShareIndexed,
  BeginStatement,  // accesses up to EndStatement are one statement of the database
  EndStatement,
  Assert,  // a != 0, or assertion `number` fails
  Abort,
  Commit,
};

struct Instruction {
  Op op = Op::Commit;
  Register to = 0;
  Register a = 0;
  Register b = 0;
  std::int64_t number = 0;
};

// family[r1, r2]: a key whose indices are computed.
struct KeyTerm {
  FamilyId family;
  std::vector<Register> indices;
};

struct Code {
  std::vector<Instruction> instructions;  // the last is Commit, Abort or Jump
  std::vector<Place> places;              // by instruction
  std::vector<KeyTerm> key_terms;
  std::vector<std::string> locals;  // names; hidden ones (loop ends) are empty
  std::vector<std::int64_t> constants;
  Register num_registers = 0;
};

}  // namespace isoscope
