#pragma once
// Writes a recorded run as a history in the format jsonl (docs/formats.md), line by line.
//
// A transaction is one line, written when it has ended, so that the file is a whole history up to
// that moment, at whatever moment the process ends.
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "record/run.h"
#include "support/output.h"

namespace isoscope::record {

// An event of a statement: what it read, wrote, deleted or locked.
struct RunEvent {
  enum class Kind : std::uint8_t {
    Read,
    Write,
    Insert,  // a write by INSERT
    Delete,
    Lock,       // FOR UPDATE, FOR NO KEY UPDATE; of the row `key`
    LockShare,  // FOR SHARE
    LockKey,    // FOR KEY SHARE, and what a foreign key checks
  };
  Kind kind = Kind::Read;
  std::string key;
  std::string from = {};   // of a Read: the transaction that wrote it; T0 is the initial one
  std::string value = {};  // of a Write and an Insert
  bool is_coarse = false;  // of a Read: its statement may not depend on it
};

// Names sessions: by application_name where no connection before had it, else s1,
// s2, … in the order of their first transactions.
class SessionNames {
 public:
  const std::string& name(const Client& client);
  std::size_t count() const { return names_.size(); }

 private:
  std::map<std::uint32_t, std::string> names_;
  std::set<std::string, std::less<>> taken_;
};

// A text in quotes, and a number.
void append_json_text(std::string& out, std::string_view text);
void append_json_number(std::string& out, std::int64_t number);

// The line of a transaction. `events` has one list per statement, or is empty: none is known.
// `commit`: its place in the order of commits, or 0.
std::string run_line(const RecordedTxn& txn, const std::string& session, const std::string& id,
                     const std::vector<std::vector<RunEvent>>& events, std::size_t commit = 0);
// What T0 wrote, key by key: calls what it is given.
using InitialValues = std::function<void(
    const std::function<void(const std::string& key, const std::string& value)>& each)>;
// The first line, and the same in pieces.
std::string run_header(const std::map<std::string, std::string>& initial = {});
void write_run_header(const InitialValues& initial, const Sink& sink);

}  // namespace isoscope::record
