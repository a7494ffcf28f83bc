// psi, cc, ra: each session talks to one replica, which answers from its own state and informs the
// others of its updates later. Where two updates of a key meet, the one with the greater stamp, a
// Lamport clock made unique by the replica's number, wins everywhere.
//
// One log holds the updates that a replica lacks, and each replica keeps the list of those that it
// lacks. Catching up with a peer means: what I lack afterwards is what we both lacked.
//
//     cc    A replica's state then stays closed under causes, because the union of two closed
//           sets is closed. No vector clocks are needed.
//     psi   The same, but who would overwrite a version that its replica lacks aborts, and the
//           replica catches up with the author of that version.
//     ra    A replica instead takes any half of what it lacks, each update whole: an effect may
//           arrive before its cause.
//
// The order of the stamps explains the history: it contains session order and reads-from, since a
// replica's clock never runs behind an update that it shows.
#include <algorithm>
#include <deque>

#include "generate/store.h"

namespace isoscope::simulation {
namespace {

using UpdateNumber = std::uint64_t;  // in order of commit

class ReplicatedStore final : public Store {
 public:
  ReplicatedStore(Workload& workload, Recorder& recorder)
      : workload_(workload),
        recorder_(recorder),
        level_(workload.plan().level),
        replicas_(std::min(workload.plan().replicas, workload.plan().sessions)) {}

  void step() override {
    const std::uint32_t session = workload_.next_session();
    const std::uint32_t r = session % num_replicas();
    if (num_replicas() > 1 && workload_.rng().chance(1 / workload_.plan().lag)) hear(r);
    run(replicas_[r]);
    if (const Update* missed = overwritten_unseen(replicas_[r])) {
      recorder_.abort(session, txn_.ops);
      catch_up(replicas_[r], replicas_[missed->origin]);
      return;
    }
    if (!txn_.own.empty()) publish(r);
    recorder_.commit(session, txn_.ops);
  }

  void quiesce() override {
    std::uint64_t latest = 0;
    for (Replica& replica : replicas_) {
      take_if(replica, [](UpdateNumber) { return true; });
      latest = std::max(latest, replica.clock);
    }
    for (Replica& replica : replicas_) replica.clock = latest;
  }

 private:
  struct Update {
    std::uint32_t origin = 0;
    std::uint32_t lacking = 0;  // how many replicas lack it
    std::uint64_t clock = 0;
    std::vector<KeyValue> writes;
  };
  struct Version {
    std::int64_t value = 0;
    std::uint64_t stamp = 0;
  };
  struct Replica {
    KeyMap<Version> versions;
    std::uint64_t clock = 0;
    std::vector<UpdateNumber> lacks;  // ascending
  };

  std::uint32_t num_replicas() const { return static_cast<std::uint32_t>(replicas_.size()); }
  Update& update(UpdateNumber number) { return log_[number - log_begin_]; }

  void run(const Replica& replica) {
    workload_.next_txn(steps_);
    txn_.clear();
    for (const Step& step : steps_) {
      execute(step, txn_, workload_, [&replica](std::uint32_t key) {
        const Version* version = replica.versions.find(key);
        return version == nullptr ? 0 : version->value;
      });
    }
  }

  // The update whose version of some key the transaction would overwrite without its replica
  // having it, where the level minds.
  const Update* overwritten_unseen(const Replica& replica) {
    if (level_ != Logic::Psi) return nullptr;
    for (const KeyValue& write : txn_.own.writes()) {
      const UpdateNumber* last = last_update_.find(write.key);
      if (last != nullptr && std::ranges::binary_search(replica.lacks, *last)) {
        return &update(*last);
      }
    }
    return nullptr;
  }

  // Commits at the origin and owes the update to all others.
  void publish(std::uint32_t origin) {
    Replica& home = replicas_[origin];
    const UpdateNumber number = log_begin_ + log_.size();
    const auto writes = txn_.own.writes();
    log_.push_back({.origin = origin,
                    .lacking = num_replicas() - 1,
                    .clock = home.clock + 1,
                    .writes = {writes.begin(), writes.end()}});
    apply(home, log_.back());
    for (Replica& replica : replicas_) {
      if (&replica != &home) replica.lacks.push_back(number);
    }
    if (level_ == Logic::Psi) {
      for (const KeyValue& write : writes) last_update_.at(write.key) = number;
    }
    forget_delivered();
  }

  void apply(Replica& replica, const Update& update) {
    const std::uint64_t stamp = update.clock * num_replicas() + update.origin;
    for (const KeyValue& write : update.writes) {
      Version& version = replica.versions.at(write.key);
      if (version.stamp < stamp) version = {write.value, stamp};
    }
    replica.clock = std::max(replica.clock, update.clock);
  }

  // Lets replica r hear of some updates, in the manner of the level.
  void hear(std::uint32_t r) {
    Rng& rng = workload_.rng();
    if (level_ == Logic::Ra) {
      take_if(replicas_[r], [&rng](UpdateNumber) { return rng.chance(0.5); });
    } else {
      const auto skip = static_cast<std::uint32_t>(rng.below(num_replicas() - 1));
      catch_up(replicas_[r], replicas_[(r + 1 + skip) % num_replicas()]);
    }
  }

  void catch_up(Replica& replica, const Replica& peer) {
    auto lacked = peer.lacks.begin();  // both lists ascend: one pass
    take_if(replica, [&](UpdateNumber number) {
      while (lacked != peer.lacks.end() && *lacked < number) ++lacked;
      return lacked == peer.lacks.end() || *lacked != number;
    });
  }

  // Applies the lacking updates for which `is_taken`, asked in ascending order, says so.
  template <class Predicate>
  void take_if(Replica& replica, Predicate is_taken) {
    auto kept = replica.lacks.begin();
    for (const UpdateNumber number : replica.lacks) {
      if (is_taken(number)) {
        apply(replica, update(number));
        --update(number).lacking;
      } else {
        *kept++ = number;
      }
    }
    replica.lacks.erase(kept, replica.lacks.end());
    forget_delivered();
  }

  void forget_delivered() {
    while (!log_.empty() && log_.front().lacking == 0) {
      log_.pop_front();
      ++log_begin_;
    }
  }

  Workload& workload_;
  Recorder& recorder_;
  Logic level_;
  std::vector<Replica> replicas_;
  std::deque<Update> log_;
  UpdateNumber log_begin_ = 0;        // the number of log_.front()
  KeyMap<UpdateNumber> last_update_;  // of each key; psi only
  std::vector<Step> steps_;
  OpenTxn txn_;
};

}  // namespace

std::unique_ptr<Store> make_replicated_store(Workload& workload, Recorder& recorder) {
  return std::make_unique<ReplicatedStore>(workload, recorder);
}

}  // namespace isoscope::simulation
