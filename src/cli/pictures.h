#pragma once
// --dot, --svg and --html: the files of an answer that people look at.
//
//     args->pictures.add_to(app, "the violation, or the order found");
//     …
//     if (auto written = args.pictures.write([&] { return check_page(report); }); !written)
//       return fail(written.error());
#include <functional>
#include <string>
#include <vector>

#include "report/page.h"
#include "support/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace isoscope {

// The whole command as it could be typed into a shell, for pages that name their origin. Told by
// main() before any command runs.
void remember_command_line(const std::vector<std::string>& words);

class Pictures {
 public:
  // `what` they show, for --help.
  std::vector<CLI::Option*> add_to(CLI::App& app, const std::string& what);
  // Was one of them asked for?
  bool is_wanted() const { return !dot_.empty() || !svg_.empty() || !html_.empty(); }
  // Makes the page and writes what was asked for. A page without a picture leaves --dot alone;
  // --svg and --html say so in the file.
  Result<void> write(const std::function<Page()>& make) const;

 private:
  std::string dot_;
  std::string svg_;
  std::string html_;
};

}  // namespace isoscope
