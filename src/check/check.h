#pragma once
// Decides whether a history satisfies a level, and says why or why not.
//
// One question, four kinds of engines, chosen by the level's text and nothing else:
//
//   check/weak     rc, ra, cc and their mixtures: saturation, near-linear
//   check/strong   pc, ua, psi, si, ser: forced version order, pruning, SAT for what is left
//   check/points   pg-rc, pg-rr and whatever else over co, snap has rules about points: a cycle of
//                  commits and snapshots, SAT where the order of writers is open
//   check/ground   every other level and mixture: its formulas grounded to SAT
//
// The strict forms of levels go to the engine of the level, with real time expressed by so and wr
// (history/real_time.h), but for strict-ra and strict-ua, which are grounded.
//
// Before any of them, reads that no level excuses. After any of them, confirm(): the reason is
// checked by a program that shares no code with the engines; a reason that does not hold turns
// the answer into Unknown and says so.
//
// A Checker remembers what it has found out about its history: what violates cc violates si too,
// and with the same cycle; what is serializable satisfies everything weaker, by the same order.
#include <map>
#include <memory>
#include <span>

#include "history/history.h"
#include "history/real_time.h"
#include "spec/level.h"
#include "spec/levels.h"
#include "support/budget.h"
#include "verdict/confirm.h"
#include "verdict/logic.h"
#include "verdict/verdict.h"

namespace isoscope {

enum class Engine : std::uint8_t { Best, Ground };  // tests compare the two

struct CheckOptions {
  Engine engine = Engine::Best;
  bool confirm = true;  // costs a fraction of the check; off only to measure it
  Progress progress = {};
};

struct CheckAnswer {
  Verdict verdict;
  ConfirmResult confirmation;
};

class Checker {
 public:
  explicit Checker(const History& h, CheckOptions options = {})
      : h_(h), options_(std::move(options)) {}

  CheckAnswer check(const Assignment& levels, Budget& budget);

 private:
  Verdict decide(const Assignment& levels, Budget& budget);
  Verdict decide_by_logic(Logic logic, Budget& budget);
  Verdict decide_strict(Logic logic, const Assignment& levels, Budget& budget);
  const Verdict& known(Logic logic, Budget& budget);
  std::optional<Verdict> inherited(Logic logic) const;
  void tell(std::string_view phase) const {
    if (options_.progress) options_.progress(phase, -1);
  }

  const History& h_;
  CheckOptions options_;
  std::map<Logic, Verdict> known_;
  // With real time, once a strict level is asked for.
  std::unique_ptr<RealTimeHistory> timed_;
  std::unique_ptr<Checker> timed_checker_;
};

// The level that a transaction, a call or a function asks for, and where; empty: the base.
struct WantedLevel {
  std::string_view name = {};
  Place place = {};
};

// Who runs at which level: `base`, but for those that want a level of their own. If one of the
// levels exists only over vis, ar, all are taken over vis, ar. An error if a level is unknown, or
// is none that a single transaction can have.
Result<Assignment> assign_levels(std::span<const WantedLevel> wanted, const Level& base,
                                 const LevelSet& levels);
// The transactions of a history.
Result<Assignment> assign_levels(const History& h, const Level& base, const LevelSet& levels);

// Is there a committed transaction besides T0? Of a history without one every level could be said
// to hold, and whoever asks should rather hear that there was nothing to check.
bool has_committed(const History& h);

// One level for all, to be used by tests and tools.
CheckAnswer check(const History& h, const Level& level, Budget& budget, CheckOptions options = {});

}  // namespace isoscope
