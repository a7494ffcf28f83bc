#include "cli/document.h"

#include <cstdio>
#include <utility>

namespace isoscope {

Result<Document> Document::open(const CommonOptions& options) {
  Document document(options);
  if (options.json && options.output == "-") return document;
  auto output = Output::open(options.output);
  if (!output) return output.error();
  document.output_ = *std::move(output);
  return document;
}

Sink Document::sink() {
  if (output_) return output_->sink();
  return [this](std::string_view piece) { text_ += piece; };
}

int Document::finish(Json answer, const char* name) {
  clear_progress_line();
  if (output_) {
    if (auto closed = output_->close(); !closed) return fail(closed.error());
  } else {
    answer[name] = std::move(text_);
  }
  return print(answer, kGood);
}

int Document::give_up(std::string_view command, std::string_view limit) {
  clear_progress_line();
  if (!options_->quiet && !options_->json)
    std::fprintf(stderr, "isoscope: unknown: %.*s came before the end\n",
                 static_cast<int>(limit.size()), limit.data());
  const Answer answer{.limit = std::string(limit)};
  return print(json_header(header_of(command, answer, seconds_running())),
               exit_code(answer.outcome));
}

int Document::print(const Json& answer, int exit_code) const {
  if (!options_->json) return exit_code;
  CommonOptions to_terminal = *options_;
  to_terminal.output = "-";
  return deliver(to_terminal, dump(answer), exit_code);
}

}  // namespace isoscope
