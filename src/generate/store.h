#pragma once
// The simulated stores: one class a kind, each in its own source. A store advances in steps; each
// step lets one session move and commits at most one transaction.
#include <cstdint>
#include <memory>
#include <vector>

#include "generate/recorder.h"
#include "generate/workload.h"
#include "generate/write_set.h"

namespace isoscope::simulation {

class Store {
 public:
  virtual ~Store() = default;
  // Lets a random session begin, go on or finish.
  virtual void step() = 0;
  // Rolls back what is open and lets every replica see everything, so that all that follows
  // follows all that was.
  virtual void quiesce() = 0;
};

// The workload and the recorder must outlive the store.
std::unique_ptr<Store> make_serial_store(Workload& workload, Recorder& recorder);
std::unique_ptr<Store> make_snapshot_store(Workload& workload, Recorder& recorder);    // si, pc
std::unique_ptr<Store> make_replicated_store(Workload& workload, Recorder& recorder);  // psi cc ra
std::unique_ptr<Store> make_read_committed_store(Workload& workload, Recorder& recorder);

// A transaction between its begin and its end.
struct OpenTxn {
  std::vector<PlainOp> ops;  // so far
  WriteSet own;

  void clear() {
    ops.clear();
    own.clear();
  }
};

// Executes one step. A read of a key that the transaction has written shows that; any other asks
// `read`, a function from keys to values.
template <class Read>
void execute(const Step& step, OpenTxn& txn, Workload& workload, const Read& read) {
  if (step.is_write) {
    const std::int64_t value = workload.fresh_value();
    txn.own.set(step.key, value);
    txn.ops.push_back({true, step.key, value});
  } else {
    const std::int64_t* own = txn.own.find(step.key);
    txn.ops.push_back({false, step.key, own == nullptr ? read(step.key) : *own});
  }
}

// The committed value of each key, where there is but one at a time.
class CurrentValues {
 public:
  std::int64_t read(std::uint32_t key) const {
    const std::int64_t* value = values_.find(key);
    return value == nullptr ? 0 : *value;
  }
  void install(const WriteSet& own) {
    for (const KeyValue& write : own.writes()) values_.at(write.key) = write.value;
  }

 private:
  KeyMap<std::int64_t> values_;
};

}  // namespace isoscope::simulation
