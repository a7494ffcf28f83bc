#include "program/parser.h"

#include <algorithm>
#include <array>

#include "program/compiler.h"
#include "program/expression_parser.h"
#include "program/statement_parser.h"
#include "support/spelling.h"

namespace isoscope::txn {

namespace {

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens)
      : tokens_(std::move(tokens)),
        expressions_(tokens_),
        statements_(tokens_, expressions_, syntax_) {}

  Result<Syntax> run() {
    for (;;) {
      tokens_.skip_separators();
      if (tokens_.at_end()) break;
      if (auto item = parse_item(); !item) return item.error();
    }
    std::ranges::sort(syntax_.families);
    syntax_.families.erase(std::unique(syntax_.families.begin(), syntax_.families.end()),
                           syntax_.families.end());
    return std::move(syntax_);
  }

 private:
  Result<void> parse_item();
  Result<void> parse_init();
  Result<void> parse_definition();
  Result<InitSyntax> parse_initial_key();
  Result<void> parse_session();
  Result<std::pair<std::int64_t, std::int64_t>> parse_session_range();
  Result<void> parse_entries(Name name);
  Result<Entry> parse_entry();
  Result<ExprPtr> parse_retries();
  Result<void> parse_final();
  LevelName take_level();
  // `retry` means something only behind a call: withdraw(60) retry 2.
  bool is_retry() const {
    return tokens_.peek().kind == TokenKind::Name && tokens_.peek().text == "retry" &&
           !tokens_.peek(1).is("(");
  }

  TokenStream tokens_;
  ExpressionParser expressions_;
  Syntax syntax_;
  StatementParser statements_;
};

Result<void> Parser::parse_item() {
  const Token& token = tokens_.peek();
  if (token.is("init")) return parse_init();
  if (token.is("txn")) return parse_definition();
  if (token.is("session")) return parse_session();
  if (token.is("assert")) return parse_final();
  std::string hint = "statements belong into a transaction: txn name() { … }";
  if (token.kind == TokenKind::Name) {
    constexpr std::array<std::string_view, 4> kItems = {"init", "txn", "session", "assert"};
    if (closest(token.text, kItems)) hint = suggest(token.text, kItems);
  } else if (token.kind == TokenKind::Sign && token.text != "{" && token.text != "}") {
    hint = "an expression goes on in the next line only inside parentheses";
  }
  return tokens_.wrong("'init', 'txn', 'session' or 'assert'", std::move(hint));
}

Result<void> Parser::parse_init() {
  tokens_.take();
  auto init = parse_initial_key();
  if (!init) return init.error();
  if (auto sign = tokens_.expect("=", "and a value after the key", "init x = 1"); !sign)
    return sign.error();
  auto value = expressions_.parse(Context::Constant);
  if (!value) return value.error();
  init->value = std::move(*value);
  syntax_.inits.push_back(std::move(*init));
  return {};
}

// A key whose indices may be ranges: stock[1..3, 2].
Result<InitSyntax> Parser::parse_initial_key() {
  auto family = tokens_.expect_name("a key");
  if (!family) return family.error();
  InitSyntax init;
  init.key.family = {family->text, family->place};
  syntax_.families.push_back(family->text);
  if (!tokens_.take_if("[")) return init;
  do {
    auto index = expressions_.parse(Context::Constant);
    if (!index) return index.error();
    init.key.indices.push_back(std::move(*index));
    init.lasts.emplace_back();
    if (!tokens_.take_if("..")) continue;
    auto last = expressions_.parse(Context::Constant);
    if (!last) return last.error();
    init.lasts.back() = std::move(*last);
  } while (tokens_.take_if(","));
  if (auto close = tokens_.expect("]", "after the indices", "init stock[1..9] = 5"); !close)
    return close.error();
  return init;
}

Result<void> Parser::parse_definition() {
  tokens_.take();
  auto name = tokens_.expect_name("the name of a transaction");
  if (!name) return name.error();
  Definition definition{.name = {name->text, name->place}};
  if (auto open = tokens_.expect("(", "after the name", "txn name(a, b) { … }"); !open)
    return open.error();
  if (!tokens_.peek().is(")")) {
    do {
      auto parameter = tokens_.expect_name("a parameter");
      if (!parameter) return parameter.error();
      definition.parameters.push_back({parameter->text, parameter->place});
    } while (tokens_.take_if(","));
  }
  if (auto close = tokens_.expect(")", "after the parameters"); !close) return close.error();
  definition.level = take_level();
  auto body = statements_.parse_block("the transaction");
  if (!body) return body.error();
  definition.body = std::move(*body);
  syntax_.definitions.push_back(std::move(definition));
  return {};
}

Result<void> Parser::parse_session() {
  tokens_.take();
  auto name = tokens_.expect_name("the name of a session");
  if (!name) return name.error();
  if (!tokens_.peek().is("[")) return parse_entries({name->text, name->place});
  auto range = parse_session_range();
  if (!range) return range.error();
  // The text of the session is read again for each of its numbers.
  const std::size_t body = tokens_.position();
  for (std::int64_t number = range->first; number <= range->second; ++number) {
    tokens_.go_back_to(body);
    expressions_.set_self(number);
    syntax_.made_names.push_back(fmt::format("{}{}", name->text, number));
    auto entries = parse_entries({syntax_.made_names.back(), name->place});
    expressions_.set_self(std::nullopt);
    if (!entries) return entries;
  }
  return {};
}

// [1..5]
Result<std::pair<std::int64_t, std::int64_t>> Parser::parse_session_range() {
  constexpr std::int64_t kMaxSessions = 1'000;
  constexpr std::string_view kExample = "session w[1..5] { work(self) }";
  const Place place = tokens_.take().place;
  auto first = expressions_.parse(Context::Constant);
  if (!first) return first.error();
  if (auto dots = tokens_.expect("..", "after the first number", std::string(kExample)); !dots)
    return dots.error();
  auto last = expressions_.parse(Context::Constant);
  if (!last) return last.error();
  if (auto close = tokens_.expect("]", "after the last number", std::string(kExample)); !close)
    return close.error();
  auto low = constant_value(**first);
  if (!low) return low.error();
  auto high = constant_value(**last);
  if (!high) return high.error();
  if (*low < 0 || *high < *low || *high - *low >= kMaxSessions)
    return Error{.where = place,
                 .what = fmt::format("{}..{} are no numbers of sessions", *low, *high),
                 .hint = fmt::format("from small to large, from 0 on, at most {}: {}", kMaxSessions,
                                     kExample)};
  return std::pair(*low, *high);
}

Result<void> Parser::parse_entries(Name name) {
  SessionSyntax session{.name = name, .entries = {}};
  tokens_.skip_newlines();
  auto open = tokens_.expect("{", "after the name", "session alice { withdraw(60) }");
  if (!open) return open.error();
  for (;;) {
    tokens_.skip_separators();
    if (tokens_.take_if("}")) break;
    auto entry = parse_entry();
    if (!entry) return entry.error();
    session.entries.push_back(std::move(*entry));
  }
  syntax_.sessions.push_back(std::move(session));
  return {};
}

Result<Entry> Parser::parse_entry() {
  Entry entry{.callee = {{}, tokens_.peek().place}};
  if (tokens_.peek().kind == TokenKind::Level || tokens_.peek().is("{")) {
    entry.level = take_level();
    entry.block = syntax_.blocks.size();
    syntax_.blocks.push_back({.name = {{}, entry.callee.place}});
    auto body = statements_.parse_block("the transaction");
    if (!body) return body.error();
    syntax_.blocks[entry.block].body = std::move(*body);
    if (is_retry())
      return Error{.where = tokens_.peek().place,
                   .what = "only a call can be run again",
                   .hint = "give the block a name: txn work() { … }, and call work() retry 2"};
    return entry;
  }
  if (tokens_.peek().kind == TokenKind::Keyword)
    return tokens_.wrong("a call, a block or '}'",
                         "statements of a session stand in a block: { a := read(x) }");
  auto callee = tokens_.expect_name("a call, a block or '}'");
  if (!callee) return callee.error();
  entry.callee = {callee->text, callee->place};
  auto open = tokens_.expect("(", "after the transaction's name",
                             tokens_.peek().is(":=") || tokens_.peek().is("=")
                                 ? "statements of a session stand in a block: { a := read(x) }"
                             : callee->text == "retry"
                                 ? "it stands on the line of its call: withdraw(60) retry 2"
                                 : fmt::format("{}()", callee->text));
  if (!open) return open.error();
  if (!tokens_.peek().is(")")) {
    do {
      auto argument = expressions_.parse(Context::Constant);
      if (!argument) return argument.error();
      entry.arguments.push_back(std::move(*argument));
    } while (tokens_.take_if(","));
  }
  if (auto close = tokens_.expect(")", "after the arguments"); !close) return close.error();
  entry.level = take_level();
  if (is_retry()) {
    auto retries = parse_retries();
    if (!retries) return retries.error();
    entry.retries = std::move(*retries);
  }
  return entry;
}

// retry 2
Result<ExprPtr> Parser::parse_retries() {
  tokens_.take();
  const Token& next = tokens_.peek();
  if (next.kind == TokenKind::Newline || next.is("}") || next.is(";"))
    return tokens_.wrong("how often, after 'retry'", "withdraw(60) retry 2");
  auto retries = expressions_.parse(Context::Constant);
  if (!retries) return retries.error();
  if (tokens_.peek().kind == TokenKind::Level)
    return tokens_.wrong("the end of the call", "the level comes first: withdraw(60) @si retry 2");
  return retries;
}

Result<void> Parser::parse_final() {
  const Place place = tokens_.take().place;
  const std::size_t first = tokens_.position();
  auto claim = expressions_.parse(Context::FinalClaim);
  if (!claim) return claim.error();
  syntax_.finals.push_back({std::move(*claim), statements_.add_assertion(first, place)});
  return {};
}

LevelName Parser::take_level() {
  if (tokens_.peek().kind != TokenKind::Level) return {};
  const Token& level = tokens_.take();
  return {std::string(level.text), level.place};
}

}  // namespace

Result<Syntax> parse_syntax(std::string_view text) {
  auto tokens = tokenize(text);
  if (!tokens) return tokens.error();
  return Parser(std::move(*tokens)).run();
}

}  // namespace isoscope::txn
