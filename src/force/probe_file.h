#pragma once
// The catalogue of probes: small programs, each with the outcome that is its anomaly.
//
//     # Both read a row, then both write it.
//     probe P4 "lost update"
//     init x=0                          # nil: the row is not there
//     a: r(x) w(x,1)
//     b: r(x) w(x,2)
//     anomaly a b a.1=0 b.1=0
//
// A session is one transaction that commits, unless it ends with `abort`; `commit` between
// operations ends one and begins the next. Operations: r reads a row, l and ls lock it too
// (FOR UPDATE, FOR SHARE), w updates it, i inserts it, d deletes it; scan reads all rows, lscan
// locks them (FOR UPDATE). An anomaly is a conjunction: `a` (session a committed), `a.2=0` (its
// second read saw 0; of a scan: so many rows; nil: no row), `end.x=1` (x in the end). Several lines
// are alternatives.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "force/ids.h"
#include "support/result.h"

namespace isoscope::force {

using ProbeValue = std::optional<std::int64_t>;  // nothing: there is no such row

struct ProbeOp {
  enum class Kind : std::uint8_t {
    Read,
    Lock,
    Share,
    Write,
    Insert,
    Delete,
    Scan,
    LockScan,
    Commit,  // and the next one begins
  };
  Kind kind = Kind::Read;
  std::string key = {};  // none of a scan
  std::int64_t value = 0;

  bool is_read() const {
    return kind == Kind::Read || kind == Kind::Lock || kind == Kind::Share || is_scan();
  }
  bool is_scan() const { return kind == Kind::Scan || kind == Kind::LockScan; }
  // Neither writes nor locks.
  bool is_plain() const { return kind == Kind::Read || kind == Kind::Scan; }
};

struct ProbeSession {
  std::string name;
  ById<ProbeOpId, ProbeOp> ops = {};
  bool aborts = false;
};

struct ProbeTerm {
  enum class Kind : std::uint8_t { Committed, Read, End };
  Kind kind = Kind::Committed;
  ActorId session = {};
  ProbeReadId read = {};
  std::string key = {};
  ProbeValue value = {};
};

struct Probe {
  std::string name;
  std::string title;
  std::vector<std::pair<std::string, ProbeValue>> rows;  // in the order of their names
  ById<ActorId, ProbeSession> sessions;
  std::vector<std::vector<ProbeTerm>> anomalies;
};

// One probe. Errors bear the place.
Result<Probe> read_probe(std::string_view text);
// The built-in catalogue, probes/*.probe.
const std::vector<Probe>& probe_catalogue();

}  // namespace isoscope::force
