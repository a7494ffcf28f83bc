#pragma once
// What every report begins with, in text, as JSON and on a page: the command and its verdict.
//
//     const Header header = header_of(report);
//     Json json = json_header(header);          {"tool":…,"command":…,"verdict":…,"limit":…}
//     std::string out = painted(header, paint);     the word in its colour
//     Page page = page_of(header, report.source);
//
// A command's words for the good and the interesting outcome are in one table (header.cpp). So is
// what is printed in place of an answer where the input is bad.
#include <optional>
#include <string>
#include <string_view>

#include "report/json.h"
#include "report/page.h"
#include "report/paint.h"
#include "support/result.h"
#include "verdict/answer.h"

namespace isoscope {

struct Header {
  std::string_view command;
  std::string_view verdict;  // the command's word for the outcome
  Outcome outcome = Outcome::Unknown;
  std::string limit = {};
  Stats stats = {};
  double seconds = 0;
};

// The word of a command for an outcome: of predict "none", "predicted", "unknown".
std::string_view word_of(std::string_view command, Outcome outcome);

// With the command's word for the outcome, or with `word` where the answer has one of its own.
Header header_of(std::string_view command, const Answer& answer, double seconds,
                 std::optional<std::string_view> word = {});

Json json_header(const Header& header);
// {"tool":…,"version":…,"error":{"where":…,"what":…,"hint":…}}
Json error_json(const Error& error);
Json stats_json(const Stats& stats);

// A text in the colour of an outcome.
std::string painted(std::string_view text, Outcome outcome, const Paint& paint);
inline std::string painted(const Header& header, const Paint& paint) {
  return painted(header.verdict, header.outcome, paint);
}

// A page without a sentence yet.
Page page_of(const Header& header, const std::string& source);

}  // namespace isoscope
