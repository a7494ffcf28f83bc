#pragma once
// Lines of a program, with lines beside them that decide which are written.
//
//     % for c in 1..accounts {                 lines with % are a script (script.h)
//     # Savings of customer $c                 all others are written; $c is its local c
//     % }
//     % use find(c)                            the lines of part find, its parameters replaced
//     % n := count(pay(c = $c) | …)            how many calls there are (claims.h)
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/script.h"

namespace isoscope {

struct SourceLine {
  std::string text;          // without the blanks around it
  std::uint32_t number = 0;  // in the file
};

// Lines that several transactions share: part find(customer) { … }
struct TemplatePart {
  std::vector<std::string> parameters;
  std::vector<SourceLine> lines;
};
using TemplateParts = std::map<std::string, TemplatePart, std::less<>>;

struct TemplateHost {
  std::function<Result<void>(std::string_view line, const ScriptLocals&)> emit;
  // Of what stands between the parentheses of count(…).
  std::function<Result<std::int64_t>(std::string_view calls, const ScriptLocals&)> count;
  std::function<Result<std::int64_t>(const ScriptKey&)> read;
};

class Template {
 public:
  static Result<Template> parse(std::span<const SourceLine> lines, const TemplateParts& parts,
                                std::span<const std::string> given);
  Result<void> run(std::span<const std::int64_t> given, const TemplateHost& host) const;

 private:
  Template(std::vector<SourceLine> texts, Script script)
      : texts_(std::move(texts)), script_(std::move(script)) {}

  std::vector<SourceLine> texts_;  // what the script writes and counts, by number
  Script script_;
};

// $name and ${name} replaced by what `find` returns; names that it does not know stay.
using TextOf = std::function<std::optional<std::string>(std::string_view name)>;
std::string substitute(std::string_view text, const TextOf& find);
TextOf text_of(const ScriptLocals& locals);
// The same for text that is final: a name that is not known is an Error.
Result<std::string> substitute_all(std::string_view text, const TextOf& find);

// What stands between separators, without the blanks around it; not inside of parentheses or
// brackets. Nothing if the text is blank.
std::vector<std::string_view> split_outside(std::string_view text, std::string_view separator);
// Where `sought` begins, not inside of parentheses or brackets; npos if nowhere.
std::size_t find_outside(std::string_view text, std::string_view sought, std::size_t from = 0);

}  // namespace isoscope
