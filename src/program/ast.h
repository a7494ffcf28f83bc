#pragma once
// The syntax tree of a .txn program: what the grammar alone can decide.
//
// Names are views into the text. Whether a name is a local, a parameter or a mistake is found out
// by names.h; what it is worth at a call, by the compiler.
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/code.h"
#include "program/executable.h"

namespace isoscope::txn {

struct Name {
  std::string_view text = {};
  Place place = {};
};

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

enum class ExprKind : std::uint8_t {
  Number,
  Local,       // b: a local or a parameter
  FinalLocal,  // alice[1].b
  FinalValue,  // final(stock[2]): family, and as parts its indices
  Committed,   // committed(alice[1])
  Unary,       // op parts[0]
  Binary,      // parts[0] op parts[1]; also min and max, of one or more
  And,
  Or,  // parts[0], parts[1]
};

struct Expr {
  ExprKind kind = ExprKind::Number;
  Place place = {};         // of the name, the number or the operator
  Op op = Op::Copy;         // of Unary and Binary
  std::int64_t number = 0;  // or the transaction's place in its session
  Name name = {};           // of the local, or the family of a final value
  Name session = {};        // of FinalLocal and Committed
  Place number_place = {};
  std::vector<ExprPtr> parts = {};
  int depth = 1;  // of the tree, so that recursion over it is bounded
};

struct KeyExpr {
  Name family;
  std::vector<ExprPtr> indices;
};

enum class StmtKind : std::uint8_t {
  Assign,
  Read,
  Write,
  If,
  For,
  While,
  Abort,
  Assert,
  Lock,        // lock(x)
  LockShared,  // lock_shared(x)
  Statement,   // stmt { … }: one statement of the database
};

struct Stmt;
using Block = std::vector<Stmt>;

// Of an `if`.
struct Arm {
  ExprPtr condition;  // none: else
  Block body;
};

struct Stmt {
  StmtKind kind = StmtKind::Abort;
  Place place = {};
  Name local = {};             // that is assigned, read into, or counts
  KeyExpr key = {};            // of Read, Write and locks
  ExprPtr value = {};          // assigned, written, asserted; lower end of a For; of a While
  ExprPtr last = {};           // the upper end of a For; how often a While goes round at most
  std::vector<Arm> arms = {};  // of If
  Block body = {};             // of For, While and Statement
  AssertionId assertion = {};
};

struct LevelName {
  std::string text = {};  // empty: none is given
  Place place = {};
};

// A transaction: one with a name and parameters, or a block inside a session.
struct Definition {
  Name name = {};  // without text for a block
  std::vector<Name> parameters = {};
  LevelName level = {};
  Block body = {};
};

// One line of a session.
struct Entry {
  Name callee = {};  // without text for a block
  std::vector<ExprPtr> arguments = {};
  LevelName level = {};
  ExprPtr retries = {};   // of a call: how often it runs again after an abort; null: never
  std::size_t block = 0;  // its number among Syntax::blocks
};

struct SessionSyntax {
  Name name;
  std::vector<Entry> entries;
};

// init stock[1..3, 2] = 5: the key has the lower ends.
struct InitSyntax {
  KeyExpr key;
  std::vector<ExprPtr> lasts;  // by index, the upper end of its range; null if it is no range
  ExprPtr value;
};

struct FinalSyntax {
  ExprPtr claim;
  AssertionId assertion = {};
};

struct Syntax {
  std::vector<InitSyntax> inits;
  std::vector<Definition> definitions;
  std::vector<Definition> blocks;
  std::vector<SessionSyntax> sessions;
  std::vector<FinalSyntax> finals;
  ById<AssertionId, FailedAssertion> assertions;  // all of them, in the order of the text
  std::vector<std::string_view> families;         // of all keys that the text names; sorted
  std::deque<std::string> made_names;  // w1, w2, …: of session w[1..2]; others stand in the text
};

}  // namespace isoscope::txn
