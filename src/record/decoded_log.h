#pragma once
// What the server's log says of a run, as the output plugin test_decoding prints it: every
// committed change in the order of commits, and the messages of the gates with their snapshots.
//
//     BEGIN 735
//     table public.t: UPDATE: id[integer]:1 v[text]:'it''s'
//     COMMIT 735 (at 2026-11-16 14:00:00.123456+00)
//     message: transactional: 0 prefix: isoscope 12, sz: 30 content:730:736:731 735 read committed
//
// The plugin comes with every server, and needs no publication: with one, UPDATE and DELETE of
// tables without a primary key would fail, and the run would be another.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/isolation.h"
#include "record/sql_connection.h"

namespace isoscope::record {

// Which transactions a statement sees. Ids count from the beginning of the cluster (64 bits).
struct Snapshot {
  std::uint64_t xmin = 0;  // every transaction before it has ended
  std::uint64_t xmax = 0;  // none from here on
  std::vector<std::uint64_t> running = {};

  bool sees(std::uint64_t xid) const;
  static std::optional<Snapshot> parse(std::string_view text);  // "730:736:731,733"
  std::string text() const;
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

struct GateMessage {
  std::uint64_t lsn = 0;
  std::uint64_t gate = 0;
  std::uint64_t xid = 0;  // of its transaction; 0 if it has none, or is not told
  Snapshot snapshot = {};
  Isolation isolation = {};
};

struct LogChange {
  // Put: an INSERT that updates the row if it is there.
  enum class Kind : std::uint8_t { Insert, Update, Delete, Truncate, Put };
  using Values = std::vector<std::pair<std::string, Cell>>;
  Kind kind = Kind::Insert;
  std::uint64_t lsn = 0;
  std::string table;                   // "public.t"
  Values values = {};                  // the new row; of Delete, what identifies the old one
  Values old = {};                     // of Update: the old key or row, if it is told
  std::vector<std::string> kept = {};  // columns whose large values did not change
};

struct LogTxn {
  std::uint64_t xid = 0;
  // In the order of commits, from 1; 0 if it changed nothing, or its rows are in the copies. Who
  // reads the log from its beginning counts (resolver.h).
  std::size_t place = 0;
  std::vector<LogChange> changes = {};
};

struct DecodedLog {
  std::vector<LogTxn> txns = {};  // in the order of commits
  std::vector<GateMessage> messages = {};
  std::string trouble = {};  // a line that was not understood
  // Tables of which not all changes are known, by full name, and why.
  std::map<std::string, std::string> troubles = {};
};

// Takes the log line by line.
class LogReader {
 public:
  // `epoch`: an id of 64 bits that is not far from all of them.
  explicit LogReader(std::uint64_t epoch) : epoch_(epoch) {}

  void line(std::string_view lsn, std::string_view data);
  // What the lines since the last time say.
  DecodedLog take_log() { return std::exchange(log_, {}); }

 private:
  std::uint64_t epoch_;
  DecodedLog log_;
  LogTxn txn_;
};

}  // namespace isoscope::record
