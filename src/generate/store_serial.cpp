// ser: a transaction runs from begin to commit before another one starts.
#include "generate/store.h"

namespace isoscope::simulation {
namespace {

class SerialStore final : public Store {
 public:
  SerialStore(Workload& workload, Recorder& recorder) : workload_(workload), recorder_(recorder) {}

  void step() override {
    const std::uint32_t session = workload_.next_session();
    workload_.next_txn(steps_);
    txn_.clear();
    for (const Step& step : steps_) {
      execute(step, txn_, workload_, [this](std::uint32_t key) { return current_.read(key); });
    }
    current_.install(txn_.own);
    recorder_.commit(session, txn_.ops);
  }
  void quiesce() override {}  // nothing is ever open

 private:
  Workload& workload_;
  Recorder& recorder_;
  CurrentValues current_;
  std::vector<Step> steps_;
  OpenTxn txn_;
};

}  // namespace

std::unique_ptr<Store> make_serial_store(Workload& workload, Recorder& recorder) {
  return std::make_unique<SerialStore>(workload, recorder);
}

}  // namespace isoscope::simulation
