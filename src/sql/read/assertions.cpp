#include "sql/read/assertions.h"

#include <fmt/format.h>

#include "sql/read/function_builder.h"
#include "sql/read/pg_parse.h"
#include "sql/read/psql_lines.h"

namespace isoscope::sql {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() &&
         (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == ';'))
    text.remove_suffix(1);
  return text;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if ((text[i] | 0x20) != word[i]) return false;
  }
  return true;
}

// "assert SELECT …" behind the dashes of a comment: the query, if the word is `word`. In any case
// of letters, with or without a colon: a claim that is passed over in silence would count as
// checked.
std::string_view query_behind(std::string_view comment, std::string_view word) {
  while (comment.starts_with('-')) comment.remove_prefix(1);
  comment = without_blanks(comment);
  if (!starts_with_word(comment, word)) return {};
  comment.remove_prefix(word.size());
  const bool has_colon = comment.starts_with(':');
  if (has_colon) comment.remove_prefix(1);
  if (comment.empty() || (!has_colon && comment.front() != ' ' && comment.front() != '\t'))
    return {};
  comment = without_blanks(comment);
  for (const std::string_view first : {"select", "with"}) {
    const bool is_it = comment.size() > first.size() && starts_with_word(comment, first);
    const char next = is_it ? comment[first.size()] : 'x';
    if (next == ' ' || next == '\t' || next == '(' || next == '*') return comment;
  }
  return {};
}

Error claim_error(Place place, const Error& error, std::string_view query) {
  return {.where = place,
          .what = fmt::format("this is no claim about rows: {}", error.what),
          .hint = error.hint.empty() ? fmt::format("in {}", query) : error.hint};
}

// Is what it returns for a row one truth value? NULL has no type of its own.
bool is_truth(const Function& claim) {
  for (const Statement& statement : claim.body.back().body()) {
    const auto* row = statement.find<ReturnRow>();
    if (row == nullptr) continue;
    if (!row->value || row->value->is_array) return false;
    return row->value->type == Type::Boolean || row->value->op == ExprOp::Null;
  }
  return false;
}

// The query as a function of its own: its names are resolved as those of the program are.
Result<Function> build_claim(std::string_view query, Place place, const Application& app) {
  const std::string text = fmt::format(
      "CREATE FUNCTION claim() RETURNS SETOF boolean LANGUAGE sql AS $claim$ {} $claim$", query);
  const auto tree = parse_sql(text);
  if (!tree) return claim_error(place, tree.error(), query);
  auto tokens = scan_sql(text);
  if (!tokens) return claim_error(place, tokens.error(), query);
  const SourceFile file{.text = text, .lines = LineIndex(text), .tokens = *std::move(tokens)};
  Catalog catalog;
  catalog.tables = app.tables;
  Findings findings;
  auto function = build_function(child(child((*tree)[0], "stmt"), "CreateFunctionStmt"), text, 0,
                                 file, catalog, findings);
  if (!function || findings.failed()) return claim_error(place, findings.error(), query);
  for (const Note& note : findings.notes()) {
    if (note.kind != NoteKind::Remark)
      return claim_error(place, {.what = note.what, .hint = "say it in other words"}, query);
  }
  // One query behind its subqueries: its rows are those that break the claim.
  const auto alone = parse_sql(query);
  const bool is_one = alone.ok() && alone->size() == 1 && !function->body.empty() &&
                      function->body.back().is<ForQuery>();
  if (!is_one) return claim_error(place, {.what = "one SELECT is expected"}, query);
  if (!is_truth(*function))
    return claim_error(place, {.what = "one truth value per row is expected"}, query);
  return *std::move(function);
}

}  // namespace

Result<std::vector<RowAssertion>> parse_assertions(std::string_view text, const Application& app) {
  std::vector<RowAssertion> assertions;
  const std::string sql = without_psql_lines(text);
  const auto tokens = scan_sql(sql);
  if (!tokens) return tokens.error();
  const LineIndex lines(sql);
  for (const SqlToken& token : *tokens) {
    const std::string_view comment =
        std::string_view(sql).substr(token.begin, token.end - token.begin);
    if (!comment.starts_with("--")) continue;
    for (const bool is_invariant : {false, true}) {
      const std::string_view query = query_behind(comment, is_invariant ? "invariant" : "assert");
      if (query.empty()) continue;
      const Place place = lines.place(token.begin);
      auto function = build_claim(query, place, app);
      if (!function) return function.error();
      assertions.push_back({is_invariant, std::string(query), *std::move(function), place});
    }
  }
  return assertions;
}

}  // namespace isoscope::sql
