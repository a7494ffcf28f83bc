#pragma once
// The common names of violations, and what Adya's thesis calls them.
#include <cstdint>
#include <string_view>

#include "history/history.h"

namespace isoscope {

enum class Anomaly : std::uint8_t {
  None,
  // Reads that no axiom excuses.
  ThinAirRead,
  AbortedRead,
  IntermediateRead,
  FutureRead,
  OwnWriteViolation,
  IncompatibleOrder,
  // Shapes of cycles, from the weakest level that forbids them up.
  DirtyWrite,           // version orders of two keys contradict each other
  CircularInformation,  // a cycle of so and wr: transactions that depend on their own future
  NonMonotonicRead,     // rc: after seeing a transaction, a read shows what it had overwritten
  NonRepeatableRead,    // ra: one transaction reads one key from two transactions
  StaleSessionRead,     // ra: a session does not see what it wrote or saw before
  FracturedRead,        // ra: part of a transaction is seen, part is not
  CausalityViolation,   // cc: an effect is seen without its cause
  LongFork,             // pc: two readers see two writes in opposite orders
  LostUpdate,           // psi: two transactions overwrite the same version
  ReadSkew,             // psi: any other cycle with a single anti-dependency
  WriteSkew,            // ser: two transactions each overwrite what the other read
  ReadOnlyAnomaly,      // ser: only a transaction that writes nothing makes the cycle
  SerializationCycle,   // ser: any other cycle
  // Shapes of cycles that real time closes: forbidden at strict levels only.
  RealTimeWrites,   // versions come in another order than the writers ran
  ReadBeforeWrite,  // what was read was written by one who began later
  StaleRead,        // what was read had been overwritten by one who had ended before
  RealTimeCycle,    // any other
  Unexplainable,    // no single cycle: the transactions admit no order
};

std::string_view common_name(Anomaly anomaly);  // "lost update"; empty for None
std::string_view adya_name(Anomaly anomaly);    // "G2-item"; empty where the thesis has none
Anomaly anomaly_of(FaultKind kind);

}  // namespace isoscope
