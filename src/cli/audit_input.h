#pragma once
// What is audited, out of the words of the command line: functions, levels, pairs that are serial.
#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/model_notes.h"
#include "cli/history_input.h"

namespace CLI {
class App;
}

namespace isoscope {

// An application and what the command line says about it. Problem refers to the application, so
// it lives here and is not moved.
struct LoadedAudit {
  std::string path;
  std::string text;
  sql::Application app;
  std::vector<Error> problems;                // functions that cannot be modelled
  std::vector<const Level*> candidates = {};  // from the weakest to the strongest
  audit::Levels levels = {};
  std::vector<std::pair<sql::FunctionId, sql::FunctionId>> serial = {};

  // An error about the application: with its file, and the line that it points at.
  Error located(const Error& error) const;
};

struct AuditInput {
  std::string path;
  std::string server = "postgres";
  std::vector<std::string> levels;  // one, or the candidates of --advise
  std::vector<std::string> only;
  std::vector<std::string> assign;  // TXN=LEVEL
  std::vector<std::string> serial;  // TXN,TXN

  void add_to(CLI::App& app);
  bool is_on_mariadb() const { return server == "mariadb"; }
  // The functions that --only names, with the levels that --assign or their comments give them.
  // Functions that cannot be modelled are no error here but in `problems`. Bare names of levels
  // mean @vis.
  Result<LoadedAudit> load(const LevelSet& known, Budget budget) const;

 private:
  // Functions that can be read but not audited at the levels that are asked for.
  std::vector<audit::Refused> remove_refused(sql::Application& app) const;
};

}  // namespace isoscope
