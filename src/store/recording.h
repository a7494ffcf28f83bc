#pragma once
// What happened when a program ran, in the store or on a path of an exploration: every transaction
// with its accesses, in the order in which the transactions ended.
//
// A recording speaks of calls and of the program's keys. As a History it has the program's names:
// session alice, transaction alice[1], key stock[1, 2]. Reads name their writers, so two
// transactions may write the same value.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "history/history.h"
#include "program/executable.h"

namespace isoscope::store {

// Whom a read reads from: a call, or the initial transaction.
inline constexpr CallId kInitialWriter = CallId::none();

// A read of another transaction's write, or a write.
struct Access {
  bool is_read = false;
  ProgramKey key = {};
  std::int64_t value = 0;
  CallId writer = kInitialWriter;  // of a read
};

struct RecordedTxn {
  bool is_committed = false;
  std::vector<Access> accesses = {};  // in program order; reads of own writes are left out
  std::vector<std::int64_t> locals = {};
  std::optional<AssertionId> failed_assertion = {};
  bool is_left_out = false;  // a repetition of what has not aborted; not in the order
};

// What a key is worth when all is over, as a claim about the finished run has seen it.
struct FinalValue {
  ProgramKey key = {};
  CallId writer = kInitialWriter;
  std::int64_t value = 0;
};

struct Recording {
  ById<CallId, RecordedTxn> txns;  // those that did not run are empty
  std::vector<CallId> order;       // calls as they ran; contains so and wr
  std::optional<AssertionId> failed_at_end = {};
  // By Executable::final_keys(): if several commit orders are allowed, in one in which a claim
  // fails, if there is one.
  std::vector<FinalValue> finals = {};

  bool has_failed_assertion() const;
  // Those of transactions, as they ran, then the one at the end.
  std::vector<AssertionId> failed_assertions() const;
};

// "alice[1]"; "alice[1.2]" for its second attempt.
std::string name_of(const Executable& program, CallId call);
// "alice[1]", or "T0" for the initial transaction.
std::string name_of_writer(const Executable& program, CallId writer);

// "alice_1", "alice_1r2": the same for formats whose names have no brackets.
std::string plain_name_of(const Executable& program, CallId call);

// The calls that ran, under the program's names and with their own levels.
History to_history(const Executable& program, const Recording& recording);
// The same under plain names.
History to_plain_history(const Executable& program, const Recording& recording);

// "t2_1": the first call of the second session; attempts count.
std::string numbered_name_of(const Executable& program, CallId call);

// The committed calls that read or write, with the numbers of their sessions and calls for names
// (s2, t2_1): for formats that know neither names nor transactions without effect.
History to_numbered_history(const Executable& program, const Recording& recording);

}  // namespace isoscope::store
