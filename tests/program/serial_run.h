#pragma once
// Runs a program one transaction after the other, each read taking the latest committed write: the
// simplest way to drive an Executor.
#include <map>
#include <string>
#include <vector>

#include "program/program.h"

namespace isoscope {

struct SerialRun {
  std::vector<std::string> trace;  // "r(x)=0", "w(x)=1", "commit", "abort", "fault", over all calls
  std::vector<bool> committed;
  std::vector<std::vector<std::int64_t>> locals;  // by call, at its end
  std::map<std::string, std::int64_t> store;      // what was written, by key
  std::optional<Error> fault;                     // stops the run
  std::optional<AssertionId> failed;              // the first assertion that failed
};

inline SerialRun run_serially(const Executable& program, std::size_t max_steps = 1'000'000) {
  SerialRun run;
  KeyTable& keys = program.keys();
  const auto executor = program.executor();
  const std::size_t num_calls = program.outline().calls.size();
  for (std::uint32_t call = 0; call < num_calls && !run.fault; ++call) {
    std::map<std::string, std::int64_t> own;
    executor->start(CallId{call});
    for (bool ended = false; !ended;) {
      const Stop stop = executor->run();
      ended = stop.kind != StopKind::Read && stop.kind != StopKind::Write;
      if (stop.kind == StopKind::Read) {
        const std::string name = keys.name(stop.key);
        std::int64_t value = keys.initial(stop.key);
        if (const auto known = run.store.find(name); known != run.store.end())
          value = known->second;
        if (const auto known = own.find(name); known != own.end()) value = known->second;
        run.trace.push_back("r(" + name + ")=" + std::to_string(value));
        executor->answer(value);
      } else if (stop.kind == StopKind::Write) {
        own[keys.name(stop.key)] = stop.value;
        run.trace.push_back("w(" + keys.name(stop.key) + ")=" + std::to_string(stop.value));
      } else if (stop.kind == StopKind::Fault) {
        run.trace.emplace_back("fault");
        run.fault = executor->fault();
      } else {
        run.trace.emplace_back(stop.kind == StopKind::Commit ? "commit" : "abort");
      }
      if (run.trace.size() >= max_steps) ended = true;
      if (stop.kind == StopKind::Commit) {
        for (const auto& [key, value] : own) run.store[key] = value;
      }
      if (ended) run.committed.push_back(stop.kind == StopKind::Commit);
    }
    const auto state = executor->state();
    run.locals.emplace_back(state.begin(),
                            state.begin() + static_cast<std::ptrdiff_t>(executor->num_locals()));
    if (!run.failed) run.failed = executor->failed_assertion();
  }
  if (run.fault || run.failed) return run;
  std::vector<Ending> endings;
  for (std::size_t i = 0; i < num_calls; ++i)
    endings.push_back({.committed = run.committed[i], .locals = run.locals[i]});
  std::vector<std::int64_t> finals;
  for (const ProgramKey x : program.final_keys()) {
    const auto known = run.store.find(keys.name(x));
    finals.push_back(known == run.store.end() ? keys.initial(x) : known->second);
  }
  run.failed = program.failed_at_end(endings, finals);
  return run;
}

}  // namespace isoscope
