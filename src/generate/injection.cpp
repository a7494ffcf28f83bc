#include "generate/injection.h"

#include <algorithm>
#include <array>

namespace isoscope {
namespace {

using enum StoreLevel;

constexpr std::array kFromRc = {Rc, Ra, Cc, Pc, Psi, Si, Ser};
constexpr std::array kFromRa = {Ra, Cc, Pc, Psi, Si, Ser};
constexpr std::array kFromCc = {Cc, Pc, Psi, Si, Ser};
constexpr std::array kFromPc = {Pc, Si, Ser};
constexpr std::array kFromPsi = {Psi, Si, Ser};
constexpr std::array kOnlySer = {Ser};

constexpr std::array kInjections = {
    // Reads that no axiom excuses, and the one cycle that no level admits.
    Injection{"thin-air-read", Anomaly::ThinAirRead, kFromRc,  //
              "A: [r(x,1)]"},
    Injection{"aborted-read", Anomaly::AbortedRead, kFromRc,
              "A: [w(x,1)]!  "
              "B: [r(x,1)]"},
    Injection{"intermediate-read", Anomaly::IntermediateRead, kFromRc,
              "A: [w(x,1) w(x,2)]  "
              "B: [r(x,1)]"},
    Injection{"future-read", Anomaly::FutureRead, kFromRc,  //
              "A: [r(x,1) w(x,1)]"},
    Injection{"own-write-violation", Anomaly::OwnWriteViolation, kFromRc,
              "A: [w(x,1)]  "
              "B: [w(x,2) r(x,1)]"},
    Injection{"circular-information-flow", Anomaly::CircularInformation, kFromRc,
              "A: [r(y,1) w(x,1)]  "
              "B: [r(x,1) w(y,1)]"},
    // rc sees the order of the reads: once the second transaction has shown, the first is over.
    Injection{"non-monotonic-read", Anomaly::NonMonotonicRead, kFromRc,
              "A: [w(x,1) w(y,1)] [w(x,2) w(y,2)]  "
              "B: [r(x,2) r(y,1)]"},
    Injection{"non-repeatable-read", Anomaly::NonRepeatableRead, kFromRa,
              "A: [w(x,1)] [w(x,2)]  "
              "B: [r(x,1) r(x,2)]"},
    Injection{"fractured-read", Anomaly::FracturedRead, kFromRa,
              "A: [w(x,1) w(y,1)] [w(x,2) w(y,2)]  "
              "B: [r(y,1) r(x,2)]"},
    Injection{"stale-session-read", Anomaly::StaleSessionRead, kFromRa,  //
              "A: [w(x,1)] [r(x,0)]"},
    Injection{"causality-violation", Anomaly::CausalityViolation, kFromCc,
              "A: [w(x,1)] [w(x,2)]  "
              "B: [r(x,2) w(y,1)]  "
              "C: [r(y,1) r(x,1)]"},
    Injection{"long-fork", Anomaly::LongFork, kFromPc,
              "A: [w(x,1)]  "
              "B: [w(y,1)]  "
              "C: [r(x,1) r(y,0)]  "
              "D: [r(x,0) r(y,1)]"},
    Injection{"lost-update", Anomaly::LostUpdate, kFromPsi,
              "A: [r(x,0) w(x,1)]  "
              "B: [r(x,0) w(x,2)]"},
    Injection{"write-skew", Anomaly::WriteSkew, kOnlySer,
              "A: [r(x,0) r(y,0) w(x,1)]  "
              "B: [r(x,0) r(y,0) w(y,1)]"},
    // A and B alone are serial, A first; C has seen B without A.
    Injection{"read-only-anomaly", Anomaly::ReadOnlyAnomaly, kOnlySer,
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
