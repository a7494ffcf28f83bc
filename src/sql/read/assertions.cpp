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

// "assert SELECT …" behind the dashes of a comment: the query, if the word is `word`.
std::string_view query_behind(std::string_view comment, std::string_view word) {
  while (comment.starts_with('-')) comment.remove_prefix(1);
  comment = without_blanks(comment);
  if (!comment.starts_with(word)) return {};
  comment.remove_prefix(word.size());
  if (comment.empty() || (comment.front() != ' ' && comment.front() != '\t')) return {};
  comment = without_blanks(comment);
  constexpr std::string_view kWord = "select";
  if (comment.size() <= kWord.size()) return {};
  for (std::size_t i = 0; i < kWord.size(); ++i) {
    if ((comment[i] | 0x20) != kWord[i]) return {};
  }
  return comment;
}

Error claim_error(Place place, const Error& error, std::string_view query) {
  return {.where = place,
          .what = fmt::format("this is no claim about rows: {}", error.what),
          .hint = error.hint.empty() ? fmt::format("in {}", query) : error.hint};
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
  if (function->body.empty() || !function->body.back().is<ForQuery>())
    return claim_error(place, {.what = "one SELECT is expected"}, query);
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
