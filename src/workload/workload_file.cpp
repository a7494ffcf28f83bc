#include "workload/workload_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/token_stream.h"
#include "support/text_cursor.h"

namespace isoscope {

namespace {

using lexical::trimmed;

constexpr std::string_view kClaim = "assert ";

// Joins what belongs together: a comment and the claim below it, and the lines of a claim, which
// goes on while a parenthesis is open or if the next line begins with a comparison.
bool is_joined(std::string& last, std::string_view next) {
  if (last.starts_with('%') || next.starts_with('%')) return false;
  const std::string_view claim = std::string_view(last).substr(last.find('\n') + 1);
  if (claim.starts_with('#') && next.starts_with(kClaim)) {
    last += fmt::format("\n{}", next);
    return true;
  }
  const bool goes_on = claim.starts_with(kClaim) &&
                       (std::ranges::count(claim, '(') > std::ranges::count(claim, ')') ||
                        next.starts_with("==") || next.starts_with("<=") || next.starts_with(">="));
  if (goes_on) last += fmt::format(" {}", next);
  return goes_on;
}

class WorkloadParser {
 public:
  explicit WorkloadParser(std::string_view text) : rest_(text) {}

  Result<WorkloadFile> run() {
    while (const auto line = next_line()) {
      const std::string_view text = trimmed(*line);
      if (text.empty() || text.starts_with('#')) continue;
      if (text.ends_with('{')) {
        if (auto done = block(text); !done) return done.error();
        continue;
      }
      if (auto done = entry(text); !done) {
        Error error = done.error();
        error.where = {number_, 0};
        return error;
      }
    }
    if (file_.info.name.empty() || file_.mix.empty())
      return Error{.what = "a workload needs at least a name and a mix"};
    return std::move(file_);
  }

 private:
  using Tokens = txn::TokenStream;

  std::optional<std::string_view> next_line() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    return line;
  }

  // WORD NAME: text for people, or WORD and the tokens behind it.
  Result<void> entry(std::string_view text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::string_view rest = trimmed(text.substr(end));
    if (word == "workload") return name(rest);
    if (word == "access") return access(rest);
    if (word == "audit" && rest.empty()) {
      file_.info.can_audit = true;
      return {};
    }
    const std::size_t colon = word == "size" ? rest.find(':') : std::string_view::npos;
    auto tokens = txn::tokenize(rest.substr(0, colon));
    if (!tokens) return tokens.error();
    Tokens stream(std::move(*tokens));
    if (word == "table") return table(stream);
    if (word == "mix") return mix(stream);
    if (word == "size" && colon != std::string_view::npos)
      return size(stream, trimmed(rest.substr(colon + 1)));
    return Error{.what = fmt::format("'{}' cannot stand here", word),
                 .hint = "known: workload, access, audit, size, table, mix, and blocks"};
  }

  Result<void> name(std::string_view rest) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return Error{.what = "expected a name, ':' and a summary"};
    file_.info.name = trimmed(rest.substr(0, colon));
    file_.info.summary = trimmed(rest.substr(colon + 1));
    return {};
  }

  Result<void> access(std::string_view rest) {
    if (rest != "scan" && rest != "point")
      return Error{.what = fmt::format("unknown access '{}'", rest), .hint = "scan or point"};
    file_.info.access = rest == "scan" ? RowAccess::Scan : RowAccess::Point;
    return {};
  }

  static Result<std::int64_t> number(Tokens& tokens) {
    if (tokens.peek().kind != txn::TokenKind::Number) return tokens.wrong("a number");
    return static_cast<std::int64_t>(tokens.take().magnitude);
  }

  static Result<void> at_end(const Tokens& tokens) {
    if (!tokens.at_end()) return tokens.wrong("the end of the line");
    return {};
  }

  // accounts = 5 in 2..1000
  Result<void> size(Tokens& tokens, std::string_view help) {
    auto name = tokens.expect_name("a size");
    if (!name) return name.error();
    TableSize size{.name = name->text, .help = help};
    const std::pair<std::string_view, std::int64_t*> parts[] = {
        {"=", &size.initially}, {"in", &size.least}, {"..", &size.most}};
    for (const auto& [sign, value] : parts) {
      if (auto found = tokens.expect(sign, "here", "accounts = 5 in 2..1000"); !found)
        return found.error();
      const auto read = number(tokens);
      if (!read) return read.error();
      *value = *read;
    }
    file_.sizes.push_back(size);
    return at_end(tokens);
  }

  // area[a in 1..areas, n] (state, code) rest 2
  Result<void> table(Tokens& tokens) {
    auto name = tokens.expect_name("a table");
    if (!name) return name.error();
    Table table{.name = std::string(name->text), .dimensions = {}, .columns = {}};
    if (auto open = tokens.expect("[", "and the numbers of a row"); !open) return open.error();
    do {
      auto dimension = this->dimension(tokens);
      if (!dimension) return dimension.error();
      table.dimensions.push_back(std::move(*dimension));
    } while (tokens.take_if(","));
    if (auto close = tokens.expect("]", "after the numbers of a row"); !close) return close.error();
    if (tokens.take_if("(")) {
      do {
        auto column = tokens.expect_name("a column");
        if (!column) return column.error();
        table.columns.emplace_back(column->text);
      } while (tokens.take_if(","));
      if (auto close = tokens.expect(")", "after the columns"); !close) return close.error();
    }
    if (tokens.peek().text == "rest") {
      tokens.take();
      const auto rest = number(tokens);
      if (!rest) return rest.error();
      table.rest = *rest;
    }
    file_.tables.push_back(std::move(table));
    return at_end(tokens);
  }

  Result<Dimension> dimension(Tokens& tokens) {
    auto name = tokens.expect_name("a name");
    if (!name) return name.error();
    Dimension dimension{.name = std::string(name->text), .size = {}};
    if (!tokens.take_if("in")) return dimension;
    if (auto low = number(tokens); !low || *low != 1) return tokens.wrong("a range from 1");
    if (auto dots = tokens.expect("..", "and a size"); !dots) return dots.error();
    auto size = tokens.expect_name("a size");
    if (!size) return size.error();
    if (std::ranges::find(file_.sizes, size->text, &TableSize::name) == file_.sizes.end())
      return Error{.where = size->place, .what = fmt::format("there is no size '{}'", size->text)};
    dimension.size = size->text;
    return dimension;
  }

  Result<void> mix(Tokens& tokens) {
    do {
      auto name = tokens.expect_name("a transaction");
      if (!name) return name.error();
      const auto weight = number(tokens);
      if (!weight) return weight.error();
      file_.mix.push_back({.name = std::string(name->text), .weight = *weight});
    } while (tokens.take_if(","));
    return at_end(tokens);
  }

  // NAME { or part NAME(parameters) {, up to a line that is }.
  Result<void> block(std::string_view head) {
    head = trimmed(head.substr(0, head.size() - 1));
    const std::uint32_t first = number_;
    std::vector<SourceLine> lines;
    for (auto line = next_line();; line = next_line()) {
      if (!line) return Error{.where = {first, 1}, .what = fmt::format("'{}' does not end", head)};
      if (line->starts_with('}')) break;
      const std::string_view text = trimmed(*line);
      if (text.empty() || (!lines.empty() && is_joined(lines.back().text, text))) continue;
      lines.push_back({.text = std::string(text), .number = number_});
    }
    if (head.starts_with("part ")) return part(trimmed(head.substr(5)), first, std::move(lines));
    const std::pair<std::string_view, std::vector<SourceLine>*> blocks[] = {
        {"rows", &file_.rows},
        {"calls", &file_.calls},
        {"transactions", &file_.transactions},
        {"claims", &file_.claims}};
    for (const auto& [name, block] : blocks) {
      if (name != head) continue;
      *block = std::move(lines);
      return {};
    }
    return Error{.where = {first, 1},
                 .what = fmt::format("there is no block '{}'", head),
                 .hint = "known: rows, calls, transactions, claims, part"};
  }

  Result<void> part(std::string_view head, std::uint32_t line, std::vector<SourceLine> lines) {
    const std::size_t open = head.find('(');
    if (open == std::string_view::npos || !head.ends_with(')'))
      return Error{.where = {line, 1},
                   .what = "a part has a name and parameters",
                   .hint = "part find(customer) {"};
    TemplatePart part{.parameters = {}, .lines = std::move(lines)};
    for (const std::string_view parameter :
         split_outside(head.substr(open + 1, head.size() - open - 2), ","))
      part.parameters.emplace_back(parameter);
    file_.parts.emplace(head.substr(0, open), std::move(part));
    return {};
  }

  std::string_view rest_;
  std::uint32_t number_ = 0;  // of the line that was read last
  WorkloadFile file_;
};

Result<Script> script_of(const std::vector<SourceLine>& lines, std::span<const std::string> given) {
  std::string text;
  for (const SourceLine& line : lines) text += line.text + '\n';
  auto script = Script::parse(text, given);
  if (script) return script;
  Error error = script.error();
  if (error.where.line >= 1 && error.where.line <= lines.size())
    error.where = {lines[error.where.line - 1].number, 0};
  return error;
}

}  // namespace

Result<WorkloadFile> parse_workload(std::string_view text) { return WorkloadParser(text).run(); }

Result<WorkloadCode> compile_workload(const WorkloadFile& file) {
  std::vector<std::string> given;
  for (const TableSize& size : file.sizes) given.emplace_back(size.name);
  given.insert(given.end(), {"scan", "audit"});
  auto rows = script_of(file.rows, given);
  if (!rows) return rows.error();
  auto transactions = Template::parse(file.transactions, file.parts, given);
  if (!transactions) return transactions.error();
  std::vector<std::string> given_to_claims = given;
  given_to_claims.emplace_back("sessions");
  auto claims = Template::parse(file.claims, file.parts, given_to_claims);
  if (!claims) return claims.error();
  given.insert(given.end(), {"client", "number"});
  for (const MixedTxn& txn : file.mix) given.push_back(txn.name);
  auto calls = script_of(file.calls, given);
  if (!calls) return calls.error();
  return WorkloadCode{.rows = std::move(*rows),
                      .calls = std::move(*calls),
                      .transactions = std::move(*transactions),
                      .claims = std::move(*claims)};
}

}  // namespace isoscope
