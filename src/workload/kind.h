#pragma once
// What a workload is made of; one file each, and workload.cpp puts the program together.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "support/rng.h"
#include "workload/program_text.h"
#include "workload/statements.h"
#include "workload/workload.h"

namespace isoscope {

// The sizes of one program, resolved.
struct Setting {
  RowAccess access = RowAccess::Point;
  bool audit = false;
  std::uint64_t seed = 1;
  std::map<std::string, std::int64_t, std::less<>> sizes = {};

  std::int64_t size(std::string_view name) const { return sizes.find(name)->second; }
  // For the rows at the start: the same whatever the number of calls.
  Rng rows() const { return Rng(seed); }
};

// Where a call stands: session and place in it, from 1. No other call has the same, so together
// they number what a call inserts.
struct Client {
  std::int64_t session = 1;
  std::int64_t number = 1;
};

struct DrawnCall {
  std::string txn;
  std::vector<std::int64_t> arguments;
  Client client = {};

  std::string name() const { return fmt::format("s{}[{}]", client.session, client.number); }
  // A local of it at its end.
  std::string local(std::string_view local) const { return fmt::format("{}.{}", name(), local); }
  // The same if it committed, else 0.
  std::string if_committed(std::string_view local) const {
    return fmt::format("committed({}) * {}.{}", name(), name(), local);
  }
  std::string committed() const { return fmt::format("committed({})", name()); }
};

struct WorkloadKind {
  WorkloadInfo info;
  void (*write_rows)(const Setting&, ProgramText&);
  void (*write_txns)(const Setting&, ProgramText&, Statements&);
  DrawnCall (*draw)(const Setting&, Rng&, Client);
  void (*write_claims)(const Setting&, const std::vector<DrawnCall>&, ProgramText&);
};

// Uniform, both ends included.
inline std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

// One of the names, by weights.
inline std::string pick(Rng& rng, std::initializer_list<std::pair<const char*, int>> weighted) {
  int total = 0;
  for (const auto& [name, weight] : weighted) total += weight;
  std::int64_t at = between(rng, 1, total);
  for (const auto& [name, weight] : weighted) {
    at -= weight;
    if (at <= 0) return name;
  }
  return weighted.begin()->first;
}

WorkloadKind smallbank();
WorkloadKind voter();
WorkloadKind tpcc();
WorkloadKind wikipedia();
WorkloadKind courseware();
WorkloadKind twitter();
WorkloadKind shopping_cart();

}  // namespace isoscope
