#pragma once
// What a history in the readable text (formats/hist.h) promises in its comments about itself:
//
//     # expect  cc: consistent   pc: violated
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/scan.h"
#include "support/result.h"
#include "support/spelling.h"

namespace isoscope {

// What a comment `# expect level: verdict level: verdict …` promises about the history.
struct Expectation {
  std::string level;    // in lower case, perhaps with @co or @vis
  std::string verdict;  // consistent, violated or unknown
  Place where;
};

// The promises of a file in the order of the text; empty if it makes none.
inline Result<std::vector<Expectation>> expectations(std::string_view text) {
  constexpr std::array<std::string_view, 3> kVerdicts = {"consistent", "violated", "unknown"};
  std::vector<Expectation> found;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    ++number;

    std::size_t at = 0;
    const auto place = [&] { return Place{number, static_cast<std::uint32_t>(at + 1)}; };
    const auto skip_blanks = [&] {
      while (at < line.size() && is_blank(line[at])) ++at;
    };
    const auto word = [&](std::string_view stops) {
      const std::size_t start = at;
      while (at < line.size() && !is_blank(line[at]) && stops.find(line[at]) == stops.npos) ++at;
      return line.substr(start, at - start);
    };
    skip_blanks();
    if (at == line.size() || line[at] != '#') continue;
    ++at;
    skip_blanks();
    if (word("") != "expect") continue;
    for (skip_blanks(); at < line.size(); skip_blanks()) {
      Expectation e{.level = {}, .verdict = {}, .where = place()};
      e.level = lower_case(word(":"));
      if (e.level.empty() || at == line.size() || line[at] != ':')
        return Error{.where = place(),
                     .what = "expected a level and a colon",
                     .hint = "for example: # expect cc: consistent si: violated",
                     .line = std::string(line)};
      ++at;
      skip_blanks();
      const Place verdict_at = place();
      e.verdict = word("");
      if (std::find(kVerdicts.begin(), kVerdicts.end(), e.verdict) == kVerdicts.end())
        return Error{.where = verdict_at,
                     .what = fmt::format("'{}' is no verdict", e.verdict),
                     .hint = suggest(e.verdict, kVerdicts),
                     .line = std::string(line)};
      found.push_back(std::move(e));
    }
  }
  return found;
}

}  // namespace isoscope
