#pragma once
// What is to be cleaned up if this program is killed in the middle of its work.
//
// A process that is killed with SIGKILL cleans up nothing: the commands that it has started, the
// statements that the server is at, schemas of ours and what a setup has created would stay. So a
// second process waits beside the first one, in a session of its own, and reads from a pipe what is
// to be done. When the pipe ends without a farewell, the first process is dead, and it does that:
//
//   processes    whose environment bears a mark are killed
//   statements   are cancelled, as libpq's PQcancel does it
//   SQL          is run on a connection of its own: ends sessions, drops schemas, tears down
//   commands     of the user's are run: a teardown
//
// A promise is kept as long as its object lives; then the first process has done it by itself.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/server_address.h"

namespace isoscope::force {

class Bequest {
 public:
  Bequest() = default;
  Bequest(Bequest&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  Bequest& operator=(Bequest&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Bequest();

  // The processes with NAME=VALUE in their environment.
  static Bequest of_processes(const std::string& variable);
  // The statement of a session of the server, known by its process and its key.
  static Bequest of_statement(const record::ServerAddress& server, int process,
                              std::uint32_t secret);
  // `dsn` as open_server() reads it.
  static Bequest of_sql(const std::string& dsn, const std::string& sql);
  static Bequest of_command(const std::string& text,
                            const std::vector<std::pair<std::string, std::string>>& environment);

 private:
  explicit Bequest(std::size_t number) : number_(number) {}
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
