#include "generate/injection.h"

#include <algorithm>
#include <array>

namespace isoscope {
namespace {

constexpr std::array kInjections = {
    // Reads that no axiom excuses, and the one cycle that no level admits.
    Injection{"thin-air-read", Anomaly::ThinAirRead, Logic::Rc,  //
              "A: [r(x,1)]"},
    Injection{"aborted-read", Anomaly::AbortedRead, Logic::Rc,
              "A: [w(x,1)]!  "
              "B: [r(x,1)]"},
    Injection{"intermediate-read", Anomaly::IntermediateRead, Logic::Rc,
              "A: [w(x,1) w(x,2)]  "
              "B: [r(x,1)]"},
    Injection{"future-read", Anomaly::FutureRead, Logic::Rc,  //
              "A: [r(x,1) w(x,1)]"},
    Injection{"own-write-violation", Anomaly::OwnWriteViolation, Logic::Rc,
              "A: [w(x,1)]  "
              "B: [w(x,2) r(x,1)]"},
    Injection{"circular-information-flow", Anomaly::CircularInformation, Logic::Rc,
              "A: [r(y,1) w(x,1)]  "
              "B: [r(x,1) w(y,1)]"},
    // rc sees the order of the reads: once the second transaction has shown, the first is over.
    Injection{"non-monotonic-read", Anomaly::NonMonotonicRead, Logic::Rc,
              "A: [w(x,1) w(y,1)] [w(x,2) w(y,2)]  "
              "B: [r(x,2) r(y,1)]"},
    Injection{"non-repeatable-read", Anomaly::NonRepeatableRead, Logic::Ra,
              "A: [w(x,1)] [w(x,2)]  "
              "B: [r(x,1) r(x,2)]"},
    Injection{"fractured-read", Anomaly::FracturedRead, Logic::Ra,
              "A: [w(x,1) w(y,1)] [w(x,2) w(y,2)]  "
              "B: [r(y,1) r(x,2)]"},
    Injection{"stale-session-read", Anomaly::StaleSessionRead, Logic::Ra,  //
              "A: [w(x,1)] [r(x,0)]"},
    Injection{"causality-violation", Anomaly::CausalityViolation, Logic::Cc,
              "A: [w(x,1)] [w(x,2)]  "
              "B: [r(x,2) w(y,1)]  "
              "C: [r(y,1) r(x,1)]"},
    Injection{"long-fork", Anomaly::LongFork, Logic::Pc,
              "A: [w(x,1)]  "
              "B: [w(y,1)]  "
              "C: [r(x,1) r(y,0)]  "
              "D: [r(x,0) r(y,1)]"},
    Injection{"lost-update", Anomaly::LostUpdate, Logic::Ua,
              "A: [r(x,0) w(x,1)]  "
              "B: [r(x,0) w(x,2)]"},
    Injection{"write-skew", Anomaly::WriteSkew, Logic::Ser,
              "A: [r(x,0) r(y,0) w(x,1)]  "
              "B: [r(x,0) r(y,0) w(y,1)]"},
    // A and B alone are serial, A first; C has seen B without A.
    Injection{"read-only-anomaly", Anomaly::ReadOnlyAnomaly, Logic::Ser,
              "A: [r(x,0) r(y,0) w(x,1)]  "
              "B: [r(y,0) w(y,1)]  "
              "C: [r(x,0) r(y,1)]"},
};

}  // namespace

std::span<const Injection> injections() { return kInjections; }

const Injection* find_injection(std::string_view name) {
  const auto found = std::ranges::find(kInjections, name, &Injection::name);
  return found == kInjections.end() ? nullptr : &*found;
}

}  // namespace isoscope
