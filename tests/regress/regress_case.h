#pragma once
// What a file of tests/regress promises, in its comments or in a file NAME.case beside it:
//
//     # expect  si: consistent   ser: violated            of histories: the verdict of each level
//     # run: isoscope check FILE --level ser --timeout 1  a command of the shell
//     # exit: 3                                           its exit code
//     # says: nothing to check                            a piece of its output or of its errors
//     # says not: consistent                              what must be in neither
//     # within: 10 s                                      when it is stopped; 60 s unless told
//
// A comment begins with `#`, `--`, `;` or `//`; in a .case file every line is one. The lines that
// follow `run:` belong to it, up to the first line that is no comment or an empty one, and each
// must be understood: a slip of the pen cannot make a case promise less. tests/regress/README.md
// tells people.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/scan.h"
#include "support/expectations.h"
#include "support/input.h"
#include "support/result.h"

namespace isoscope {

struct RegressRun {
  std::string command;  // FILE and TEMP still stand in it
  std::uint32_t line = 0;
  std::optional<int> exit_code = {};
  std::vector<std::string> says = {};
  std::vector<std::string> says_not = {};
  int seconds = 60;
};

struct RegressCase {
  std::vector<Expectation> expected;
  std::vector<RegressRun> runs;
};

enum class Lines : std::uint8_t { OfAFile, OfACaseFile };

// The words of a comment; nothing if the line is none.
inline std::optional<std::string_view> comment_of(std::string_view line, Lines lines) {
  line = trimmed(line);
  for (const std::string_view marker : {"#", "--", ";", "//"}) {
    if (!line.starts_with(marker)) continue;
    line.remove_prefix(std::min(line.find_first_not_of(marker.front()), line.size()));
    return trimmed(line);
  }
  if (lines == Lines::OfACaseFile) return line;
  return std::nullopt;
}

// "12" of "exit: 12" and of "within: 12 s"; nothing if another word stands there.
inline std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads a case line by line.
class RegressCaseReader {
 public:
  Result<RegressCase> read(std::string_view text, Lines lines) {
    LineReader reader = LineReader::over(text);
    for (std::string_view line; reader.next(line);) {
      line_ = reader.line_number();
      const auto words = comment_of(line, lines);
      if (!words || words->empty()) {
        in_run_ = false;
      } else if (auto understood = take(*words); !understood) {
        return understood.error().quoting(text);
      }
    }
    for (const RegressRun& run : case_.runs) {
      if (!run.exit_code)
        return Error{.where = {run.line, 1}, .what = "this run has no exit code"}.quoting(text);
    }
    if (case_.runs.empty() && case_.expected.empty())
      return Error{.what = "promises nothing", .hint = "see tests/regress/README.md"};
    return std::move(case_);
  }

 private:
  Result<void> take(std::string_view words) {
    if (words.starts_with("expect ")) return take_expectation(words);
    if (const auto command = after(words, "run:")) {
      case_.runs.push_back({.command = std::string(*command), .line = line_});
      in_run_ = true;
      return {};
    }
    if (in_run_) return take_promise(words);
    for (const std::string_view word : {"exit:", "says:", "says not:", "within:"}) {
      if (words.starts_with(word))
        return Error{.where = {line_, 1}, .what = fmt::format("'{}' without a run", word)};
    }
    return {};  // prose
  }

  Result<void> take_expectation(std::string_view words) {
    auto found = expectations(fmt::format("# {}", words));
    if (!found)
      return Error{.where = {line_, 1}, .what = found.error().what, .hint = found.error().hint};
    for (Expectation& expectation : *found) {
      expectation.where = {line_, 1};
      case_.expected.push_back(std::move(expectation));
    }
    return {};
  }

  Result<void> take_promise(std::string_view words) {
    RegressRun& run = case_.runs.back();
    if (const auto piece = after(words, "says:")) {
      run.says.emplace_back(*piece);
      return {};
    }
    if (const auto piece = after(words, "says not:")) {
      run.says_not.emplace_back(*piece);
      return {};
    }
    if (const auto code = after(words, "exit:")) {
      if (const auto number = whole_number(*code); number && !run.exit_code) {
        run.exit_code = number;
        return {};
      }
    }
    if (const auto time = after(words, "within:"); time && time->ends_with(" s")) {
      if (const auto number = whole_number(trimmed(time->substr(0, time->size() - 2)))) {
        run.seconds = *number;
        return {};
      }
    }
    return Error{.where = {line_, 1},
                 .what = fmt::format("'{}' says nothing about the run", words),
                 .hint = "after run: come exit: 1, says: text, says not: text, within: 10 s"};
  }

  // What stands behind `word`; nothing if the line begins otherwise, or if nothing stands there.
  static std::optional<std::string_view> after(std::string_view words, std::string_view word) {
    if (!words.starts_with(word)) return std::nullopt;
    const std::string_view rest = trimmed(words.substr(word.size()));
    if (rest.empty()) return std::nullopt;
    return rest;
  }

  RegressCase case_;
  std::uint32_t line_ = 0;
  bool in_run_ = false;
};

inline Result<RegressCase> read_regress_case(std::string_view text, Lines lines) {
  return RegressCaseReader().read(text, lines);
}

// `text` with `value` where `word` stands as a word of its own.
inline std::string with_word(std::string text, std::string_view word, std::string_view value) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '-');
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at)) {
    if ((at > 0 && is_part(at - 1)) || is_part(at + word.size())) {
      at += word.size();
    } else {
      text.replace(at, word.size(), value);
      at += value.size();
    }
  }
  return text;
}

}  // namespace isoscope
