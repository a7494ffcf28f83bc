#pragma once
// One random client of `stress`: it says statements, and takes note of what they answer.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "force/answer.h"
#include "force/stress.h"
#include "history/builder.h"
#include "support/rng.h"

namespace isoscope::force {

struct StressOp {
  enum class Kind : std::uint8_t { Read, Write };
  Kind kind = Kind::Read;
  std::size_t key = 0;
  std::vector<std::int64_t> values = {};         // one; of a list that was read, its elements
  std::optional<std::int64_t> overwritten = {};  // of a write that is no append: the value before
};

struct StressTxn {
  TxnStatus status = TxnStatus::Aborted;
  std::vector<StressOp> ops = {};
  std::string error = {};
  std::size_t ended = 0;  // the place of its end among all ends; 0: it has not ended
};

// What all clients share.
struct StressState {
  const StressOptions& options;
  std::string table;
  std::string begin;
  bool has_returning = false;   // UPDATE … RETURNING
  std::size_t started = 0;      // transactions
  std::size_t round_end = 0;    // no further one starts when so many have
  std::int64_t last_value = 0;  // every written value is one more
  std::size_t ended = 0;        // transactions
  bool is_stopping = false;     // for good
  bool is_pausing = false;      // until connections are opened anew
  bool is_last = false;         // everybody reads what is there in the end

  bool may_start() const {
    if (is_pausing) return false;
    return is_last || (!is_stopping && started < round_end);
  }
};

class StressClient {
 public:
  StressClient(StressState& state, std::size_t number)
      : state_(state), rng_(state.options.seed * 1'000'003 + number) {}

  // The next statement; nothing if there is none until the client is renewed.
  std::optional<std::string> next(const Answer* last);
  // It has a new connection.
  void renew();

  std::vector<StressTxn> txns = {};

 private:
  enum class Phase : std::uint8_t { Idle, Begun, Running, Committing, Over };

  void note(const Answer& answer);
  void note_failure(const Answer& answer);
  void note_operation(const Answer& answer);
  bool overwrites(const StressOp& op) const;
  void plan();
  std::size_t key() { return rng_.below(state_.options.keys); }
  std::string statement(const StressOp& op) const;

  StressState& state_;
  Rng rng_;
  Phase phase_ = Phase::Idle;
  bool is_rolling_back_ = false;
  bool is_gone_ = false;     // the connection is lost
  bool is_asking_ = false;   // what the last UPDATE overwrote
  bool has_looked_ = false;  // at what is there in the end
  std::vector<StressOp> plan_ = {};
  std::size_t next_ = 0;
  std::vector<std::int64_t> balances_ = {};
};

// What the clients saw so far. Transactions that have not ended are of unknown outcome, and so are
// those whose COMMIT was not answered; nobody comes after them in their session.
Result<History> history_of_clients(const std::vector<std::unique_ptr<StressClient>>& clients,
                                   const StressOptions& options, Budget& budget);

}  // namespace isoscope::force
