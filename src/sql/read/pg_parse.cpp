#include "sql/read/pg_parse.h"

#include <fmt/format.h>
#include <pg_query.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "sql/read/nesting.h"
#include "sql/read/source_text.h"

namespace isoscope::sql {
namespace {

constexpr std::size_t kMaxText = std::size_t{4} << 20;

// How many bytes the UTF-8 character at the start of `text` has; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80   ? 1
                             : byte(0) < 0xC2 ? 0
                             : byte(0) < 0xE0 ? 2
                             : byte(0) < 0xF0 ? 3
                             : byte(0) < 0xF5 ? 4
                                              : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  return length;
}

std::optional<Error> find_unreadable(std::string_view text) {
  if (text.size() > kMaxText) return Error{.what = "the text is longer than 4 MB"};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0 || text[i] == '\0') {
      return Error{.where = LineIndex(text).place(i),
                   .what = length == 0 ? "this is not UTF-8" : "a zero byte in the text"};
    }
    i += length;
  }
  return std::nullopt;
}

// Builds a tree until the budget is over. (The base is nlohmann's own builder of documents; the
// parser finds our functions before those of the base.)
class TreeBuilder : public nlohmann::detail::json_sax_dom_parser<Tree> {
 public:
  using Base = nlohmann::detail::json_sax_dom_parser<Tree>;
  TreeBuilder(Tree& tree, Budget* budget)
      : Base(tree, /*allow_exceptions_=*/false), budget_(budget) {}

  bool start_object(std::size_t length) { return !is_over() && Base::start_object(length); }
  bool start_array(std::size_t length) { return !is_over() && Base::start_array(length); }

 private:
  bool is_over() const { return budget_ != nullptr && budget_->expired(); }

  Budget* budget_;
};

// Null if it is no JSON, or the budget is over.
Tree read_json(const char* text, Budget* budget) {
  Tree tree;
  TreeBuilder builder(tree, budget);
  return Tree::sax_parse(text, &builder) ? std::move(tree) : Tree();
}

// The parser folds `-1` and `- (- -1)` into one constant, and its JSON leaves out a number that is
// not positive: what is missing is read from the text. `tokens` are those of the text, `at` is the
// first of the number.
std::int64_t number_in_text(std::string_view text, std::span<const SqlToken> tokens,
                            std::span<const SqlToken>::iterator at) {
  bool is_negative = false;
  for (; at != tokens.end(); ++at) {
    const std::string_view token = text.substr(at->begin, at->end - at->begin);
    if (token == "-") is_negative = !is_negative;
    if (token != "-" && token != "(" && !is_comment(token)) break;
  }
  std::int64_t number = 0;
  if (at != tokens.end()) std::from_chars(&text[at->begin], text.data() + at->end, number);
  return is_negative ? -number : number;
}

// Of a constant, which begins at its location, or of an option such as INCREMENT BY -1, where the
// number comes behind words.
void restore_number(Tree& node, std::string_view text, std::span<const SqlToken> tokens) {
  const auto is_missing = [](const Tree& number) { return number.is_object() && number.empty(); };
  const bool is_constant = node.contains("ival") && is_missing(node["ival"]);
  const bool is_option =
      node.contains("defname") && is_missing(child(child(node, "arg"), "Integer"));
  if ((!is_constant && !is_option) || !node.contains("location")) return;
  const auto location = static_cast<std::uint32_t>(number_of(node, "location"));
  auto at = std::ranges::lower_bound(tokens, location, {}, &SqlToken::begin);
  if (at == tokens.end() || at->begin != location) return;
  if (is_constant && text[location] == '-') node["ival"]["ival"] = number_in_text(text, tokens, at);
  if (!is_option) return;
  while (at != tokens.end() && std::isalpha(static_cast<unsigned char>(text[at->begin])) != 0) ++at;
  node["arg"]["Integer"]["ival"] = number_in_text(text, tokens, at);
}

void restore_numbers(Tree& tree, std::string_view text, std::span<const SqlToken> tokens) {
  std::vector<Tree*> open = {&tree};
  while (!open.empty()) {
    Tree& node = *open.back();
    open.pop_back();
    if (!node.is_structured()) continue;
    if (node.is_object()) restore_number(node, text, tokens);
    for (Tree& part : node) open.push_back(&part);
  }
}

Error error_of(const PgQueryError& error, std::string_view text) {
  Error result{.what = error.message != nullptr ? error.message : "syntax error"};
  if (error.cursorpos > 0) {
    // The parser counts characters.
    std::size_t offset = 0;
    for (int i = 1; i < error.cursorpos && offset < text.size(); ++i) {
      offset += std::max<std::size_t>(1, utf8_length(text.substr(offset)));
    }
    result.where = LineIndex(text).place(offset);
  } else {
    result.where = LineIndex(text).place(text.size());
  }
  return result;
}

// Reads what pg_query_scan() packs: messages of protobuf, of which we need two numbers a token.
class PackedTokens {
 public:
  explicit PackedTokens(std::string_view bytes) : bytes_(bytes) {}

  std::vector<SqlToken> read() {
    std::vector<SqlToken> tokens;
    while (!bytes_.empty()) {
      const std::uint64_t field = varint();
      if ((field & 7U) != 2) {
        varint();
        continue;
      }
      const std::size_t length = std::min<std::size_t>(varint(), bytes_.size());
      if (field >> 3U == 2) tokens.push_back(token(bytes_.substr(0, length)));
      bytes_.remove_prefix(length);
    }
    return tokens;
  }

 private:
  static SqlToken token(std::string_view message) {
    PackedTokens fields(message);
    SqlToken result;
    while (!fields.bytes_.empty()) {
      const std::uint64_t field = fields.varint() >> 3U;
      const auto value = static_cast<std::uint32_t>(fields.varint());
      if (field == 1) result.begin = value;
      if (field == 2) result.end = value;
    }
    return result;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  std::string_view bytes_;
};

// Where U&'d\0061t' or U&"d\0061t" at `begin` ends: the scanner, which decodes it, tells the begin
// alone. A doubled quote is one of the text, and strings that only blanks with a line break part
// are one. Nothing if no such token begins there.
std::optional<std::size_t> end_of_unicode(std::string_view text, std::size_t begin) {
  const std::string_view token = text.substr(begin);
  if (!token.starts_with("U&") && !token.starts_with("u&")) return std::nullopt;
  const char quote = token.size() > 2 ? token[2] : ' ';
  if (quote != '\'' && quote != '"') return std::nullopt;
  for (std::size_t end = token.find(quote, 3); end != token.npos; end = token.find(quote, end)) {
    ++end;
    if (token.substr(end).starts_with(quote)) {
      ++end;
      continue;
    }
    const std::size_t next = std::min(token.find_first_not_of(" \t\r\n\f", end), token.size());
    const bool goes_on = quote == '\'' && token.substr(next).starts_with(quote) &&
                         token.substr(end, next - end).find_first_of("\r\n") != token.npos;
    if (!goes_on) return begin + end;
    end = next + 1;
  }
  return std::nullopt;
}

// The last number in "compilation of PL/pgSQL function "f" near line 7".
std::uint32_t line_in(std::string_view context) {
  const std::size_t at = context.rfind("line ");
  std::uint32_t line = 0;
  if (at != std::string_view::npos)
    std::from_chars(context.data() + at + 5, context.data() + context.size(), line);
  return line;
}

}  // namespace

Result<std::vector<SqlToken>> scan_sql(std::string_view text) {
  if (auto error = find_unreadable(text)) return *error;
  const std::string input(text);
  const PgQueryScanResult result = pg_query_scan(input.c_str());
  if (result.error != nullptr) {
    Error error = error_of(*result.error, text);
    pg_query_free_scan_result(result);
    return error;
  }
  std::vector<SqlToken> tokens =
      PackedTokens(std::string_view(result.pbuf.data, result.pbuf.len)).read();
  pg_query_free_scan_result(result);
  for (SqlToken& token : tokens) {
    if (const auto end = end_of_unicode(text, token.begin))
      token.end = static_cast<std::uint32_t>(*end);
    if (token.begin >= token.end || token.end > text.size())
      return Error{.where = LineIndex(text).place(token.begin),
                   .what = "the scanner lost its way at this word",
                   .hint = "write it without U&, or in another way"};
  }
  return tokens;
}

Result<Tree> parse_sql(std::string_view text, Budget* budget) {
  const auto tokens = scan_sql(text);
  if (!tokens) return tokens.error();
  if (auto error = find_too_deep(text, *tokens, TextKind::Sql)) return *error;
  const std::string input(text);
  const PgQueryParseResult result = pg_query_parse(input.c_str());
  if (result.error != nullptr) {
    Error error = error_of(*result.error, text);
    pg_query_free_parse_result(result);
    return error;
  }
  Tree tree = read_json(result.parse_tree, budget);
  pg_query_free_parse_result(result);
  if (budget != nullptr && budget->expired_now()) return limit_error("reading the program");
  if (!child(tree, "stmts").is_array()) return Error{.what = "the parser's answer is no tree"};
  restore_numbers(tree, text, *tokens);
  return std::move(tree["stmts"]);  // a copy would recurse
}

Result<Tree> parse_plpgsql(std::string_view create_function, std::string_view body) {
  const auto tokens = scan_sql(body);
  if (!tokens) return Error{.where = {tokens.error().where.line, 0}, .what = tokens.error().what};
  if (auto error = find_too_deep(body, *tokens, TextKind::PlpgsqlBody)) return *error;
  const std::string input(create_function);
  const PgQueryPlpgsqlParseResult result = pg_query_parse_plpgsql(input.c_str());
  if (result.error != nullptr) {
    Error error{.what = result.error->message != nullptr ? result.error->message : "syntax error"};
    if (result.error->context != nullptr) error.where.line = line_in(result.error->context);
    pg_query_free_plpgsql_parse_result(result);
    return error;
  }
  Tree tree = read_json(result.plpgsql_funcs, nullptr);
  pg_query_free_plpgsql_parse_result(result);
  if (!tree.is_array() || tree.empty() || !has(tree[0], "PLpgSQL_function"))
    return Error{.what = "the parser finds no PL/pgSQL in this function"};
  return std::move(tree[0]["PLpgSQL_function"]);
}

}  // namespace isoscope::sql
