// si, pc: a transaction reads the state at its begin, and its writes appear at its commit, some
// steps later. At si it aborts if a key that it wrote has got a newer version meanwhile; at pc it
// overwrites it blindly.
//
// The order of the commits explains the history: a snapshot is a prefix of it, and a session
// begins its next transaction after its last commit. An aborted transaction is a reader at the
// place of its begin.
#include "generate/store.h"

namespace isoscope::simulation {
namespace {

class SnapshotStore final : public Store {
 public:
  SnapshotStore(Workload& workload, Recorder& recorder)
      : workload_(workload),
        recorder_(recorder),
        first_committer_wins_(workload.plan().level == Logic::Si),
        sessions_(workload.plan().sessions) {}

  void step() override {
    const std::uint32_t session = workload_.next_session();
    if (sessions_[session].is_open) {
      finish(session);
    } else {
      begin(sessions_[session]);
    }
  }

  void quiesce() override {
    for (std::uint32_t session = 0; session < sessions_.size(); ++session) {
      if (!sessions_[session].is_open) continue;
      sessions_[session].is_open = false;
      recorder_.abort(session, sessions_[session].txn.ops);
    }
  }

 private:
  struct Session {
    bool is_open = false;
    std::uint64_t snapshot = 0;  // how many commits it contains
    OpenTxn txn;
  };

  // Nothing can change a snapshot, so its reads are done at once.
  void begin(Session& session) {
    session.is_open = true;
    session.snapshot = commits_;
    session.txn.clear();
    workload_.next_txn(steps_);
    for (const Step& step : steps_) {
      execute(step, session.txn, workload_,
              [this](std::uint32_t key) { return current_.read(key); });
    }
  }

  void finish(std::uint32_t number) {
    Session& session = sessions_[number];
    session.is_open = false;
    if (first_committer_wins_ && is_overtaken(session)) {
      recorder_.abort(number, session.txn.ops);
      return;
    }
    ++commits_;
    current_.install(session.txn.own);
    if (first_committer_wins_) {
      for (const KeyValue& write : session.txn.own.writes()) last_commit_.at(write.key) = commits_;
    }
    recorder_.commit(number, session.txn.ops);
  }

  bool is_overtaken(const Session& session) const {
    for (const KeyValue& write : session.txn.own.writes()) {
      const std::uint64_t* last = last_commit_.find(write.key);
      if (last != nullptr && *last > session.snapshot) return true;
    }
    return false;
  }

  Workload& workload_;
  Recorder& recorder_;
  bool first_committer_wins_;
  std::vector<Session> sessions_;
  std::uint64_t commits_ = 0;
  CurrentValues current_;
  KeyMap<std::uint64_t> last_commit_;  // that wrote the key; si only
  std::vector<Step> steps_;
};

}  // namespace

std::unique_ptr<Store> make_snapshot_store(Workload& workload, Recorder& recorder) {
  return std::make_unique<SnapshotStore>(workload, recorder);
}

}  // namespace isoscope::simulation
