#pragma once
// Records the history of a run on PostgreSQL: a proxy, a command that speaks to it, and a file.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "record/isolation.h"
#include "record/server_address.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::record {

// How it is learnt what statements read and wrote.
enum class Reads : std::uint8_t {
  Auto,    // from the log if the server allows it, else by appending
  Log,     // from the server's log (server_log.h)
  Append,  // by a column that is appended to statements (appending.h)
};

struct RecordOptions {
  ConnectionString dsn;
  Reads reads = Reads::Auto;
  std::string listen_host = "127.0.0.1";
  int listen_port = 0;               // 0: any that is free
  std::string tls_certificate = {};  // shown to clients that ask for TLS; empty: none
  std::string tls_key = {};
  bool requires_tls = false;              // of clients
  std::string output;                     // the file of the run
  std::vector<std::string> command = {};  // empty: until interrupted
  Budget budget = {};
  // Transactions are kept in memory up to so many bytes of their lines; beyond that they are read
  // from the file again in the end.
  std::size_t most_kept = std::size_t{8} << 20U;
  std::function<bool()> is_interrupted = [] { return false; };
  // Called with the address where the proxy listens, before the command starts.
  std::function<void(int port)> on_listening = [](int) {};
  // Called with what the server does not allow, and so what is not recorded.
  std::function<void(const Error&)> on_trouble = [](const Error&) {};
  // Told that it is recorded otherwise.
  std::function<void(const std::string&)> on_notice = [](const std::string&) {};
};

struct GapCount {
  std::uint64_t count = 0;
  std::string example;  // a statement
};

struct RecordSummary {
  std::string reads = "none";  // "log", "append", or neither
  int exit_code = 0;           // of the command; 128 + the signal that ended it
  std::uint64_t connections = 0;
  std::uint64_t sessions = 0;
  std::uint64_t transactions = 0;
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t statements = 0;
  std::uint64_t understood = 0;               // of them, those without a gap
  std::map<std::string, GapCount> gaps = {};  // by reason
};

Result<RecordSummary> record(const RecordOptions& options);

// Finishes a recording that was killed, as far as its file has the server's log (journal.h):
// computes what statements read and wrote, and writes the file anew. The server need not be the
// same process, but must have the tables.
Result<RecordSummary> recover(const ConnectionString& dsn, const std::string& path);

// The level of transactions that declare none. Asks the server itself, which also shows that it can
// be reached.
Result<Isolation> default_isolation(const ConnectionString& dsn);

}  // namespace isoscope::record
