#pragma once
// One random client of `stress`: it says statements, and takes note of what they answer.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "force/answer.h"
#include "force/ids.h"
#include "force/stress.h"
#include "history/builder.h"
#include "support/rng.h"

namespace isoscope::force {

struct StressOp {
  enum class Kind : std::uint8_t { Read, Write };
  Kind kind = Kind::Read;
  StressRow row = {};
  std::int64_t written = 0;
  // The value that was read, or that the write has overwritten; of a list its elements, those
  // before the one that was appended. Empty (of a register): it is not known.
  std::vector<std::int64_t> seen = {};
  // Of a write: a query behind it told that. Such a query takes the snapshot of its transaction
  // where a server takes one with the first query.
  bool was_asked = false;
};

struct StressTxn {
  TxnStatus status = TxnStatus::Aborted;
  std::vector<StressOp> ops = {};
  std::string error = {};
  std::size_t ended = 0;      // the place of its end among all ends; 0: it has not ended
  bool looks_at_end = false;  // it reads what is there in the end, and does nothing else
};

// The rows that clients choose from: `keys` of them. A list that has been appended to often enough
// makes room for a new one, since each read of a list costs as much as the list is long.
class StressRows {
 public:
  explicit StressRows(const StressOptions& options);

  std::size_t size() const { return size_; }  // of the table
  // Asks for as many more as so many transactions may need.
  void grow(std::size_t txns, std::size_t longest);
  StressRow pick(Rng& rng) const { return open_[rng.below(open_.size())]; }
  void note_write(StressRow row);
  const std::set<StressRow>& written() const { return written_; }

 private:
  bool are_lists_ = false;
  std::size_t size_ = 0;
  StressRow next_ = {};  // the row that comes when one is full; all below have been open
  std::vector<StressRow> open_;
  std::map<StressRow, std::size_t> appends_;  // to open rows
  std::set<StressRow> written_;
};

// What all clients share.
struct StressState {
  const StressOptions& options;
  StressRows rows;
  std::string table;
  std::string begin;
  bool has_returning = false;   // UPDATE … RETURNING
  std::size_t started = 0;      // transactions
  std::size_t round_end = 0;    // no further one starts when so many have
  std::int64_t last_value = 0;  // every written value is one more
  std::size_t ended = 0;        // transactions
  bool is_stopping = false;     // for good
  bool is_pausing = false;      // until connections are opened anew
  bool is_last = false;         // each client reads what is there in the end

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
  void plan();
  void plan_write(StressRow row);
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
// those whose COMMIT was not answered; none comes after them in their session.
Result<History> history_of_clients(const std::vector<std::unique_ptr<StressClient>>& clients,
                                   const StressOptions& options, Budget& budget);

// The committed writes of which nothing is there in the end, if clients have looked: each row keeps
// the value before, so that what it holds leads back to all writes that it rests on.
std::vector<std::string> lost_commits(const std::vector<std::unique_ptr<StressClient>>& clients,
                                      const StressOptions& options);

}  // namespace isoscope::force
