#pragma once
// The history or program that `convert` and `generate` make.
//
// It goes where --output says. With --json and without a file it becomes a member of the answer,
// so that standard output is one JSON object in any case.
#include <optional>
#include <string>

#include "cli/command.h"
#include "report/header.h"
#include "support/output.h"

namespace isoscope {

class Document {
 public:
  // `options` outlives the document.
  static Result<Document> open(const CommonOptions& options);

  // Valid as long as the document stays where it is.
  Sink sink();
  // Makes the document definite and prints the answer if --json asks for it; a document without a
  // file is the member `name` in it. Returns the exit code.
  int finish(Json answer, const char* name);
  // The same where a limit came before its end: a file is left as it was.
  int give_up(std::string_view command, std::string_view limit);

 private:
  explicit Document(const CommonOptions& options) : options_(&options) {}
  int print(const Json& answer, int exit_code) const;

  const CommonOptions* options_;
  std::optional<Output> output_;  // none: it is kept in text_
  std::string text_;
};

}  // namespace isoscope
