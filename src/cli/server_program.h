#pragma once
// `explore` and `run` on SQL programs as PostgreSQL or MariaDB executes them.
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/pictures.h"
#include "cli/program_input.h"
#include "formats/formats.h"
#include "sql/application.h"
#include "sql/server/level.h"

namespace CLI {
class App;
}

namespace isoscope {

// A server, and the level of each call on it.
struct ServerLevels {
  sql::server::ServerKind server = sql::server::ServerKind::Postgres;
  std::vector<sql::server::PgLevel> levels = {};
  std::vector<sql::Note> gaps = {};  // what may mean another thing there
};

// What the functions that a program calls do and the model does not, on a server or by definitions.
std::vector<sql::Note> gaps_of(const LoadedProgram& input);

struct ServerInput {
  std::string server = "postgres";
  bool late_wakeups = false;

  void add_to(CLI::App& app);
  // The level of each call if the program runs as the server runs it: an SQL program, and
  // --level is one of its levels or left out. Nothing: it runs by the definitions of levels, which
  // are `known`. Levels of both kinds do not mix.
  Result<std::optional<ServerLevels>> levels(const LoadedProgram& input, const LevelSet& known,
                                             const std::string& level) const;

 private:
  Result<std::optional<ServerLevels>> on_mariadb(const LoadedProgram& input,
                                                 const std::string& level) const;
};

struct ServerExploreOptions {
  bool assert_only = false;
  bool outcomes = false;
  std::size_t violations = 3;
  std::string histories = {};
  bool late_wakeups = false;
  Pictures pictures = {};
};
int explore_on_server(const CommonOptions& common, const LoadedProgram& input,
                      const ServerLevels& levels, const ServerExploreOptions& options,
                      const Budget& budget);

struct ServerRunOptions {
  std::uint64_t seed = 0;
  std::uint64_t runs = 1;
  std::string trace = {};  // a file for the history of the run that is shown
  Format format = Format::Jsonl;
  bool late_wakeups = false;
  Pictures pictures = {};
};
int run_on_server(const CommonOptions& common, const LoadedProgram& input,
                  const ServerLevels& levels, const ServerRunOptions& options, Budget budget);

}  // namespace isoscope
