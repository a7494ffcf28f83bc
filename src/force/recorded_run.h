#pragma once
// A forced run as a history: clients speak through the recording proxy (src/record), and check
// (src/check) decides what became of it.
//
//     clients ──▶ proxy ──▶ server            RunRecorder::open(…), then clients at proxy().port()
//                   │          │
//            statements      log  ──▶  history  ──▶  serializable?       RunRecorder::judge(…)
//
// What is recorded is true, so an unserializable history is one. That a run is serializable is only
// said of a recording without gaps. Reads of joins are recorded coarsely (docs/record.md): a
// violation that does not stand without them is not reported.
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check/check.h"
#include "formats/run_notes.h"
#include "record/gatekeeper.h"
#include "record/proxy.h"
#include "record/server_log.h"
#include "record/turns.h"

namespace isoscope::force {

struct RecordedRun {
  enum class Kind : std::uint8_t { Unserializable, Serializable, Unknown };
  Kind kind = Kind::Unknown;
  std::string why = {};   // of Unknown
  std::string text = {};  // the history in the format jsonl; empty if nothing was recorded
  std::shared_ptr<const History> history = {};
  std::optional<Violation> violation = {};  // of ser, if it is violated
  // What check says of it, level by level: ser first.
  std::vector<std::pair<std::string, Outcome>> levels = {};
};

// Reads a recorded history and checks it. `fine` is the same one without coarse reads; empty if it
// has none.
RecordedRun judge_history(std::string text, std::string_view fine, Budget& budget);

// A recorded run as texts in the format jsonl.
struct RecordedTexts {
  std::string text;
  std::string fine = {};  // without coarse reads; empty if it has none
};
// Of transactions with their sessions, in the order of their ends.
Result<RecordedTexts> recorded_texts(std::vector<std::pair<std::string, record::RecordedTxn>> txns,
                                     record::ServerLog& log, record::Gatekeeper& gates,
                                     const std::string& home);

// Reads what these transactions, with their sessions and in the order of their ends, did out of the
// server's log, and checks it. `home`: the schema that names of tables without one mean; empty if
// that is not known.
RecordedRun judge_txns(std::vector<std::pair<std::string, record::RecordedTxn>> txns,
                       record::ServerLog& log, record::Gatekeeper& gates, const std::string& home,
                       Budget& budget);

class RunRecorder {
 public:
  struct Options {
    record::ConnectionString dsn;
    std::size_t doors = 1;
    record::TurnKeeper* turns = nullptr;
  };
  // A server that gives no log is no error: there is no history then.
  static Result<std::unique_ptr<RunRecorder>> open(const Options& options);
  ~RunRecorder();
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  record::Proxy& proxy() { return *proxy_; }
  // Has the proxy work in a thread of its own, for clients in this process.
  void work_beside();
  // Ends all connections.
  void close();
  // The transactions so far, in the order of their ends. Requires: closed.
  const std::vector<std::pair<record::Client, record::RecordedTxn>>& txns() const { return txns_; }
  // Requires: closed. `session_of` names the session of a client; no name is empty.
  RecordedRun judge(const std::function<std::string(const record::Client&)>& session_of,
                    Budget& budget);

 private:
  RunRecorder() = default;

  std::optional<record::ServerLog> log_;
  std::string no_log_;  // why there is none
  record::Gatekeeper gates_;
  std::unique_ptr<record::Proxy> proxy_;
  std::vector<std::pair<record::Client, record::RecordedTxn>> txns_;
  std::jthread worker_;
};

// The connection string that leads to a proxy of ours instead.
Result<std::string> through_proxy(const std::string& dsn, int port);

}  // namespace isoscope::force
