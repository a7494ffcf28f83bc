#pragma once
// What is to be cleaned up if this program is killed in the middle of its work.
//
// A process that is killed with SIGKILL cleans up nothing: the commands that it has started, the
// statements that the server executes, our schemas and what a setup has created would stay. So a
// second process waits beside the first one, in a process session of its own, and reads from a pipe
// what is to be done. If the pipe ends without the message that says that all is done, the first
// process is dead, and the second one cleans up:
//
//   processes    whose environment has a mark are killed
//   statements   are cancelled, as libpq's PQcancel does it
//   SQL          is run on a connection of its own: ends sessions, drops schemas, tears down
//   commands     of the user are run: a teardown
//
// A cleanup is registered as long as its object exists; the destructor withdraws it, because the
// first process has then cleaned up by itself.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/server_address.h"

namespace isoscope::force {

class CleanupIfKilled {
 public:
  CleanupIfKilled() = default;
  CleanupIfKilled(CleanupIfKilled&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  CleanupIfKilled& operator=(CleanupIfKilled&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~CleanupIfKilled();

  // The processes with NAME=VALUE in their environment.
  static CleanupIfKilled of_processes(const std::string& variable);
  // The statement of a session of the server, known by its process and its key.
  static CleanupIfKilled of_statement(const record::ServerAddress& server, int process,
                                      std::uint32_t secret);
  // `dsn` as open_server() reads it.
  static CleanupIfKilled of_sql(const std::string& dsn, const std::string& sql);
  static CleanupIfKilled of_command(
      const std::string& text, const std::vector<std::pair<std::string, std::string>>& environment);

 private:
  explicit CleanupIfKilled(std::size_t number) : number_(number) {}
  std::size_t number_ = 0;  // 0: none
};

// A variable in the environment of the commands that this program runs, and of all that they start.
std::pair<std::string, std::string> mark_of_commands();
// The same as NAME=VALUE.
std::string marked_environment();

// Asks the server to cancel what a session is at; waits until it has heard it, a second at most.
void cancel_statement(const record::ServerAddress& server, int process, std::uint32_t secret);

// Kills all processes that have this in their environment, and so do those that they start
// meanwhile.
void kill_processes(const std::string& variable);

}  // namespace isoscope::force
