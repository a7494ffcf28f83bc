#pragma once
// The anomalies that can be injected: for each a tiny history that shows it, and the weakest level
// that it breaks. It breaks those that imply this one, and no other.
//
// The history's keys and values stand for fresh ones, its sessions for different sessions of the
// run. Since nothing else touches those keys, and everything else comes wholly before or wholly
// after, the long history breaks those levels and, of the levels that it satisfied, no other.
#include <span>
#include <string_view>

#include "generate/generate.h"
#include "verdict/anomaly.h"

namespace isoscope {

struct Injection {
  std::string_view name;  // the common name with hyphens: lost-update
  Anomaly anomaly = Anomaly::None;
  Logic weakest_broken = Logic::Rc;
  std::string_view script;  // in the hist format; 0 is the initial value
};

// How many sessions the largest script needs.
inline constexpr std::uint32_t kInjectionSessions = 4;

// All of them, those that break the weakest levels first.
std::span<const Injection> injections();
// By name; null if no injection has that name.
const Injection* find_injection(std::string_view name);

}  // namespace isoscope
