#pragma once
// Runs a program transaction by transaction in a seeded interleaving of its sessions, serially or
// on stale snapshots.
//
// A stale snapshot is a prefix of the commits that contains the session's own ones and never
// shrinks within a session: prefix consistency, which causal consistency and weaker levels allow.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "program/program.h"
#include "support/rng.h"

namespace isoscope {

enum class Snapshots { Latest, Stale };

struct InterleavedRun {
  std::size_t committed = 0;
  std::size_t read_only = 0;
  std::size_t reads = 0;   // of committed transactions, without those of own writes
  std::size_t writes = 0;  // of committed transactions, the last of a key
  std::map<std::string, std::int64_t> store = {};
  std::string fault = {};
  std::string failed = {};  // the text of the first assertion that failed
};

class InterleavedRunner {
 public:
  InterleavedRunner(const Executable& program, std::uint64_t seed, Snapshots snapshots)
      : program_(program), rng_(seed), snapshots_(snapshots), executor_(program.executor()) {}

  InterleavedRun run() {
    const Outline& outline = program_.outline();
    std::vector<ProgramSession> left;  // a session, once for each call it has left
    for (const ProgramSession s : outline.sessions.ids())
      left.insert(left.end(), outline.sessions[s].size, s);
    ById<ProgramSession, std::uint32_t> done(outline.sessions.size(), 0);
    seen_.assign(outline.sessions.size(), 0);
    locals_.resize(outline.calls.size());
    committed_.assign(outline.calls.size(), false);
    while (!left.empty() && run_.fault.empty()) {
      const std::size_t at = rng_.below(left.size());
      const ProgramSession session = left[at];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
      run_call(session, CallId{outline.sessions[session].first.index + done[session]++});
    }
    std::vector<Ending> endings;
    for (const CallId i : locals_.ids())
      endings.push_back({.committed = committed_[i], .locals = locals_[i]});
    if (run_.failed.empty() && run_.fault.empty()) note(program_.failed_at_end(endings, {}));
    for (const auto& [key, versions] : versions_)
      run_.store[program_.keys().name(key)] = versions.back().value;
    return run_;
  }

 private:
  struct Version {
    std::size_t commit = 0;
    std::int64_t value = 0;
  };

  std::int64_t value_of(ProgramKey key, std::size_t snapshot) const {
    const auto versions = versions_.find(key);
    std::int64_t value = program_.keys().initial(key);
    if (versions == versions_.end()) return value;
    for (const Version& version : versions->second) {
      if (version.commit <= snapshot) value = version.value;
    }
    return value;
  }

  void run_call(ProgramSession session, CallId call) {
    std::size_t& snapshot = seen_[session];
    snapshot =
        snapshots_ == Snapshots::Latest ? commits_ : snapshot + rng_.below(commits_ - snapshot + 1);
    std::map<ProgramKey, std::int64_t> own;
    std::size_t reads = 0;
    executor_->start(call);
    for (;;) {
      const Stop stop = executor_->run();
      if (stop.kind == StopKind::Read) {
        const auto written = own.find(stop.key);
        if (written == own.end()) ++reads;
        executor_->answer(written != own.end() ? written->second : value_of(stop.key, snapshot));
      } else if (stop.kind == StopKind::Write) {
        own[stop.key] = stop.value;
      } else {
        end(stop, session, call, reads, own);
        return;
      }
    }
  }

  void end(const Stop& stop, ProgramSession session, CallId call, std::size_t reads,
           const std::map<ProgramKey, std::int64_t>& own) {
    if (stop.kind == StopKind::Fault) run_.fault = render(executor_->fault());
    note(executor_->failed_assertion());
    const auto state = executor_->state();
    locals_[call].assign(state.begin(),
                         state.begin() + static_cast<std::ptrdiff_t>(executor_->num_locals()));
    if (stop.kind != StopKind::Commit) return;
    committed_[call] = true;
    ++run_.committed;
    run_.read_only += own.empty() ? 1 : 0;
    run_.reads += reads;
    run_.writes += own.size();
    ++commits_;
    for (const auto& [key, value] : own)
      versions_[key].push_back({.commit = commits_, .value = value});
    // The others' commits before this one come with it: a snapshot is a prefix.
    seen_[session] = commits_;
  }

  void note(std::optional<AssertionId> failed) {
    if (failed && run_.failed.empty()) run_.failed = program_.assertion(*failed).text;
  }

  const Executable& program_;
  Rng rng_;
  Snapshots snapshots_;
  std::unique_ptr<Executor> executor_;
  InterleavedRun run_;
  std::size_t commits_ = 0;
  ById<ProgramSession, std::size_t> seen_;  // the commits of its last snapshot
  std::map<ProgramKey, std::vector<Version>> versions_;
  ById<CallId, std::vector<std::int64_t>> locals_;
  ById<CallId, bool> committed_;
};

inline InterleavedRun run_interleaved(const Executable& program, std::uint64_t seed,
                                      Snapshots snapshots) {
  return InterleavedRunner(program, seed, snapshots).run();
}

}  // namespace isoscope
