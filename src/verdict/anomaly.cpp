#include "verdict/anomaly.h"

namespace isoscope {

std::string_view common_name(Anomaly anomaly) {
  switch (anomaly) {
    case Anomaly::None: return "";
    case Anomaly::ThinAirRead: return "thin-air read";
    case Anomaly::AbortedRead: return "aborted read";
    case Anomaly::IntermediateRead: return "intermediate read";
    case Anomaly::FutureRead: return "future read";
    case Anomaly::OwnWriteViolation: return "own-write violation";
    case Anomaly::IncompatibleOrder: return "incompatible order";
    case Anomaly::DirtyWrite: return "dirty write";
    case Anomaly::CircularInformation: return "circular information flow";
    case Anomaly::NonMonotonicRead: return "non-monotonic read";
    case Anomaly::NonRepeatableRead: return "non-repeatable read";
    case Anomaly::StaleSessionRead: return "stale session read";
    case Anomaly::FracturedRead: return "fractured read";
    case Anomaly::CausalityViolation: return "causality violation";
    case Anomaly::LongFork: return "long fork";
    case Anomaly::LostUpdate: return "lost update";
    case Anomaly::ReadSkew: return "read skew";
    case Anomaly::WriteSkew: return "write skew";
    case Anomaly::ReadOnlyAnomaly: return "read-only anomaly";
    case Anomaly::SerializationCycle: return "serialization cycle";
    case Anomaly::RealTimeWrites: return "writes against real time";
    case Anomaly::ReadBeforeWrite: return "read before its write";
    case Anomaly::StaleRead: return "stale read";
    case Anomaly::RealTimeCycle: return "real-time cycle";
    case Anomaly::Unexplainable: return "no possible order";
  }
  return {};
}

// [Adya-PhD'99], chapters 3 and 4; G-SIb and G-monotonic from its extensions; -realtime from
// [Elle-VLDB'20].
std::string_view adya_name(Anomaly anomaly) {
  switch (anomaly) {
    case Anomaly::AbortedRead: return "G1a";
    case Anomaly::IntermediateRead: return "G1b";
    case Anomaly::DirtyWrite: return "G0";
    case Anomaly::CircularInformation: return "G1c";
    case Anomaly::NonMonotonicRead: return "G-monotonic";
    case Anomaly::NonRepeatableRead:
    case Anomaly::FracturedRead:
    case Anomaly::StaleSessionRead:
    case Anomaly::CausalityViolation:
    case Anomaly::LostUpdate:
    case Anomaly::ReadSkew: return "G-single";
    case Anomaly::LongFork: return "G-SIb";
    case Anomaly::WriteSkew:
    case Anomaly::ReadOnlyAnomaly:
    case Anomaly::SerializationCycle: return "G2-item";
    case Anomaly::RealTimeWrites: return "G0-realtime";
    case Anomaly::ReadBeforeWrite: return "G1c-realtime";
    case Anomaly::StaleRead: return "G-single-realtime";
    case Anomaly::RealTimeCycle: return "G2-item-realtime";
    case Anomaly::None:
    case Anomaly::ThinAirRead:
    case Anomaly::FutureRead:
    case Anomaly::OwnWriteViolation:
    case Anomaly::IncompatibleOrder:
    case Anomaly::Unexplainable: break;
  }
  return "";
}

Anomaly anomaly_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::ThinAirRead: return Anomaly::ThinAirRead;
    case FaultKind::AbortedRead: return Anomaly::AbortedRead;
    case FaultKind::IntermediateRead: return Anomaly::IntermediateRead;
    case FaultKind::FutureRead: return Anomaly::FutureRead;
    case FaultKind::OwnWriteViolation: return Anomaly::OwnWriteViolation;
    case FaultKind::IncompatibleOrder: return Anomaly::IncompatibleOrder;
  }
  return Anomaly::None;
}

}  // namespace isoscope
