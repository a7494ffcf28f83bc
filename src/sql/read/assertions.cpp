#include "sql/read/assertions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sql/read/function_builder.h"
#include "sql/read/pg_parse.h"
#include "sql/read/psql_lines.h"
#include "sql/read/workload_reader.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() &&
         (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == ';'))
    text.remove_suffix(1);
  return text;
}

std::size_t letters_of(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin());
}

// A comment by its first word: "-- Assert: SELECT …" is "assert" and "SELECT …".
struct Spoken {
  std::string word;
  std::string_view rest;
};

// In any case of letters, with or without a colon.
Spoken spoken_in(std::string_view comment) {
  while (comment.starts_with('-')) comment.remove_prefix(1);
  comment = without_blanks(comment);
  Spoken spoken{.word = lower_case(comment.substr(0, letters_of(comment))), .rest = {}};
  comment.remove_prefix(spoken.word.size());
  const bool is_word =
      comment.empty() || std::string_view(": \t(").find(comment.front()) != comment.npos;
  if (!is_word) return {};
  if (comment.starts_with(':')) comment.remove_prefix(1);
  spoken.rest = without_blanks(comment);
  return spoken;
}

// WITH t AS (…): "with respect to" does not.
bool names_queries(std::string_view behind_with) {
  const std::string text = lower_case(behind_with);
  return text.find(" as ") != text.npos || text.find(" as(") != text.npos;
}

// Does a query begin here? `VALUES` and `WITH` alone are words of prose, and so is a parenthesis.
bool begins_query(std::string_view text) {
  const std::size_t size = text.find_first_not_of("( \t");
  const bool is_enclosed = text.starts_with('(');
  if (is_enclosed) text.remove_prefix(std::min(size, text.size()));
  const std::string first = lower_case(text.substr(0, letters_of(text)));
  text.remove_prefix(first.size());
  const char next = text.empty() ? 'x' : text.front();
  if (first == "values") return without_blanks(text).starts_with('(');
  if (first == "with") return next != 'x' && names_queries(text);
  return first == "select" && (next == ' ' || next == '\t' || next == '(' || next == '*');
}

// The tree of the one query that the text is; a null tree if it is none.
Tree query_tree(std::string_view text) {
  auto tree = parse_sql(text);
  if (!tree || tree->size() != 1) return {};
  return child(child((*tree)[0], "stmt"), "SelectStmt");
}

bool compares(std::string_view text) {
  const auto tokens = scan_sql(text);
  return tokens.ok() && std::ranges::any_of(*tokens, [&](const SqlToken& token) {
           const std::string_view word = text.substr(token.begin, token.end - token.begin);
           return word == "=" || word == "<" || word == ">" || word == "<=" || word == ">=" ||
                  word == "<>" || word == "!=";
         });
}

// "SELEC v >= 0 FROM t", "v >= 0": the query that was meant, if the text has the shape of one. It
// has if the server's parser takes it with another first word, or behind SELECT where it compares
// something; "that the stock is right" is no SQL in either way.
std::optional<std::string> meant_query(std::string_view text) {
  const std::size_t size = letters_of(text);
  const std::string first = lower_case(text.substr(0, size));
  for (const std::string_view keyword : {"SELECT", "VALUES", "WITH"}) {
    const std::string word = lower_case(keyword);
    // "selects", "without": other words.
    if (first.starts_with(word) || edit_distance(first, word) != 1) continue;
    std::string query = fmt::format("{}{}", keyword, text.substr(size));
    if (!query_tree(query).is_null()) return query;
  }
  std::string query = fmt::format("SELECT {}", text);
  const Tree tree = compares(text) ? query_tree(query) : Tree();
  if (tree.is_null()) return std::nullopt;
  return has(tree, "fromClause") ? query : query + " FROM …";
}

bool is_claim_word(std::string_view word) { return word == "assert" || word == "invariant"; }

// "asserts", "assertion", "invarient": the word that was meant; empty if it is another one.
std::string_view meant_word(std::string_view word) {
  if (word == "assertion" || word == "assertions") return "assert";
  for (const std::string_view known : {"assert", "invariant"}) {
    if (edit_distance(word, known) <= 1) return known;
  }
  return {};
}

// Why a comment that has the shape of a claim is none.
std::optional<Error> find_slip(const Spoken& spoken, Place place) {
  const std::string_view word = meant_word(spoken.word);
  if (word.empty() || spoken.rest.empty()) return std::nullopt;
  if (is_claim_word(spoken.word)) {
    const auto meant = meant_query(spoken.rest);
    if (!meant) return std::nullopt;
    return Error{.where = place,
                 .what = fmt::format("a claim about rows is a query behind '{}'", word),
                 .hint = fmt::format("write -- {} {}", word, *meant)};
  }
  if (!begins_query(spoken.rest) || query_tree(spoken.rest).is_null()) return std::nullopt;
  return Error{
      .where = place,
      .what = fmt::format("a claim about rows begins with '{}', not with '{}'", word, spoken.word),
      .hint = fmt::format("write -- {} {}", word, spoken.rest)};
}

// "f(1); g()", behind the name of a session or not: is the first a call?
bool begins_with_call(std::string_view text) {
  text = text.substr(0, text.find_first_of(";@"));
  const Tree tree = query_tree(fmt::format("SELECT {}", text));
  const Tree& targets = child(tree, "targetList");
  return targets.size() == 1 && !has(tree, "fromClause") &&
         has(child(inside(targets[0]), "val"), "FuncCall");
}

bool is_like_session(const Spoken& spoken) {
  if (edit_distance(spoken.word, "session") > 1) return false;
  std::string_view rest = spoken.rest;
  if (begins_with_call(rest)) return true;
  rest.remove_prefix(std::min(rest.find_first_of(" \t:"), rest.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t:"), rest.size()));
  return begins_with_call(rest);
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

// The comments of a line, each with its place.
struct Comment {
  std::string text;
  Place place;
};
Result<std::vector<Comment>> comments_in(std::string_view text) {
  const std::string sql = without_psql_lines(text);
  const auto tokens = scan_sql(sql);
  if (!tokens) return tokens.error();
  const LineIndex lines(sql);
  std::vector<Comment> comments;
  for (const SqlToken& token : *tokens) {
    std::string comment = sql.substr(token.begin, token.end - token.begin);
    if (comment.starts_with("--"))
      comments.push_back({std::move(comment), lines.place(token.begin)});
  }
  return comments;
}

}  // namespace

Result<std::vector<RowAssertion>> parse_assertions(std::string_view text, const Application& app) {
  std::vector<RowAssertion> assertions;
  const auto comments = comments_in(text);
  if (!comments) return comments.error();
  for (const auto& [comment, place] : *comments) {
    const Spoken spoken = spoken_in(comment);
    if (!is_claim_word(spoken.word) || !begins_query(spoken.rest)) {
      if (auto slip = find_slip(spoken, place)) return *std::move(slip);
      continue;
    }
    auto function = build_claim(spoken.rest, place, app);
    if (!function) return function.error();
    assertions.push_back(
        {spoken.word == "invariant", std::string(spoken.rest), *std::move(function), place});
  }
  return assertions;
}

std::vector<Note> comments_passed_over(std::string_view text) {
  std::vector<Note> notes;
  const auto comments = comments_in(text);
  if (!comments) return notes;
  const auto tell = [&](Place place, std::string_view form) {
    notes.push_back({.where = place,
                     .function = "",
                     .what = fmt::format("this comment is passed over: {}", form)});
  };
  for (const auto& [comment, place] : *comments) {
    const Spoken spoken = spoken_in(comment);
    const bool is_like_claim = is_claim_word(spoken.word)
                                   ? !begins_query(spoken.rest)
                                   : !meant_word(spoken.word).empty() &&
                                         (begins_query(spoken.rest) || compares(spoken.rest));
    if (is_like_claim) {
      tell(place, "a claim about rows is written -- assert SELECT … FROM …");
    } else if (is_like_session(spoken) && !is_session_line(comment)) {
      tell(place, "a session is written -- session NAME: f(1); g(2)");
    }
  }
  return notes;
}

}  // namespace isoscope::sql
