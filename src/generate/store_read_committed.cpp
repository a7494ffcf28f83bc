// rc: each read takes the version that is committed at that moment; writes appear at the commit.
// Sessions interleave operation by operation.
//
// The order of the commits explains the history: whatever a transaction has read from before, a
// later read sees that or something committed after it.
#include "generate/store.h"

namespace isoscope::simulation {
namespace {

class ReadCommittedStore final : public Store {
 public:
  ReadCommittedStore(Workload& workload, Recorder& recorder)
      : workload_(workload), recorder_(recorder), sessions_(workload.plan().sessions) {}

  void step() override {
    const std::uint32_t number = workload_.next_session();
    Session& session = sessions_[number];
    if (!session.is_open()) {
      session.txn.clear();
      session.next = 0;
      workload_.next_txn(session.steps);
    }
    execute(session.steps[session.next], session.txn, workload_,
            [this](std::uint32_t key) { return current_.read(key); });
    if (++session.next < session.steps.size()) return;
    current_.install(session.txn.own);
    recorder_.commit(number, session.txn.ops);
  }

  void quiesce() override {
    for (std::uint32_t number = 0; number < sessions_.size(); ++number) {
      Session& session = sessions_[number];
      if (!session.is_open()) continue;
      session.next = session.steps.size();
      recorder_.abort(number, session.txn.ops);
    }
  }

 private:
  struct Session {
    std::vector<Step> steps;
    std::size_t next = 0;  // in steps
    OpenTxn txn;

    bool is_open() const { return next < steps.size(); }
  };

  Workload& workload_;
  Recorder& recorder_;
  CurrentValues current_;
  std::vector<Session> sessions_;
};

}  // namespace

std::unique_ptr<Store> make_read_committed_store(Workload& workload, Recorder& recorder) {
  return std::make_unique<ReadCommittedStore>(workload, recorder);
}

}  // namespace isoscope::simulation
