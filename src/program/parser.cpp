#include "program/parser.h"

#include <algorithm>
#include <array>

#include "program/compiler.h"
#include "program/expression_parser.h"
#include "support/spelling.h"

namespace isoscope::txn {

namespace {

struct Habit {
  std::string_view word;
  std::string_view hint;
};

// What people write out of habit where a statement has to end.
constexpr std::array<Habit, 5> kHabits = {{
    {"and", "write '&&'"},
    {"or", "write '||'"},
    {"=", "a comparison is '==', an assignment ':='"},
    {":=", "only a local can be assigned; a key is written by write(x, 1)"},
    {"else", "'else' follows the '}' of an 'if', without ';'"},
}};

std::string hint_for(const Token& token) {
  for (const auto& [word, hint] : kHabits) {
    if (token.text == word) return std::string(hint);
  }
  return {};
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)), expressions_(tokens_) {}

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

  // Is the token so far ahead, or the first behind newlines there, a '{'?
  bool begins_block(std::size_t ahead) const {
    while (tokens_.peek(ahead).kind == TokenKind::Newline) ++ahead;
    return tokens_.peek(ahead).is("{");
  }
  Result<Block> parse_block(std::string_view of_what);
  Result<Stmt> parse_statement();
  Result<Stmt> parse_assignment();
  Result<Stmt> parse_write();
  Result<Stmt> parse_if();
  Result<Stmt> parse_for();
  Result<Stmt> parse_while();
  Result<Stmt> parse_lock();
  Result<Stmt> parse_one_statement();
  Result<Stmt> parse_assert();
  Result<ExprPtr> parse_condition(std::string_view after);
  Result<KeyExpr> parse_key(Context context_of_indices);
  AssertionId add_assertion(std::size_t first_token, Place place);

  TokenStream tokens_;
  ExpressionParser expressions_;
  Syntax syntax_;
  bool in_statement_ = false;  // inside of stmt { … }
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
  auto body = parse_block("the transaction");
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
    auto body = parse_block("the transaction");
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
  syntax_.finals.push_back({std::move(*claim), add_assertion(first, place)});
  return {};
}

LevelName Parser::take_level() {
  if (tokens_.peek().kind != TokenKind::Level) return {};
  const Token& level = tokens_.take();
  return {std::string(level.text), level.place};
}

AssertionId Parser::add_assertion(std::size_t first_token, Place place) {
  const AssertionId id = syntax_.assertions.next_id();
  syntax_.assertions.push_back({tokens_.text_from(first_token), place});
  return id;
}

Result<Block> Parser::parse_block(std::string_view of_what) {
  const TokenStream::Nesting nesting(tokens_);
  if (nesting.is_too_deep()) return tokens_.too_deep();
  tokens_.skip_newlines();
  auto open = tokens_.expect("{", fmt::format("and the block of {}", of_what));
  if (!open) return open.error();
  Block block;
  for (;;) {
    tokens_.skip_separators();
    if (tokens_.take_if("}")) return block;
    if (tokens_.at_end())
      return tokens_.wrong(
          "'}'", fmt::format("it closes the '{{' at {}:{}", open->place.line, open->place.column));
    auto statement = parse_statement();
    if (!statement) return statement.error();
    const bool ends_with_brace =
        statement->kind == StmtKind::If || statement->kind == StmtKind::For ||
        statement->kind == StmtKind::While || statement->kind == StmtKind::Statement;
    block.push_back(std::move(*statement));
    const Token& next = tokens_.peek();
    if (!ends_with_brace && next.kind != TokenKind::Newline && !next.is(";") && !next.is("}") &&
        next.kind != TokenKind::End)
      return tokens_.wrong("the end of the statement", hint_for(next));
  }
}

Result<Stmt> Parser::parse_statement() {
  const Token& token = tokens_.peek();
  if (token.text == "while" && tokens_.peek(1).is("(")) return parse_while();
  if ((token.text == "lock" || token.text == "lock_shared") && tokens_.peek(1).is("("))
    return parse_lock();
  if (token.text == "stmt" && begins_block(1)) return parse_one_statement();
  if (token.is("abort") && in_statement_)
    return Error{.where = token.place,
                 .what = "a statement cannot end the transaction",
                 .hint = "decide inside of 'stmt { … }' and abort behind it: if (a < 0) { abort }"};
  if (token.kind == TokenKind::Name) return parse_assignment();
  if (token.is("write")) return parse_write();
  if (token.is("if")) return parse_if();
  if (token.is("for")) return parse_for();
  if (token.is("assert")) return parse_assert();
  if (token.is("abort")) return Stmt{.kind = StmtKind::Abort, .place = tokens_.take().place};
  std::string hint = hint_for(token);
  if (token.is("read")) hint = "read into a local: v := read(x)";
  return tokens_.wrong("a statement", std::move(hint));
}

Result<Stmt> Parser::parse_assignment() {
  const Token local = tokens_.take();
  if (expressions_.has_self() && local.text == "self")
    return Error{.where = local.place,
                 .what = "'self' is the number of the session and cannot be assigned",
                 .hint = "use another name"};
  Stmt statement{
      .kind = StmtKind::Assign, .place = local.place, .local = {local.text, local.place}};
  if (!tokens_.peek().is(":=")) {
    std::string hint = "a statement assigns, writes, branches, loops, asserts or aborts";
    if (tokens_.peek().is("=")) hint = "an assignment is written x := 1";
    if (tokens_.peek().is("[")) hint = "a key is written by write(x[1], 1)";
    if (tokens_.peek().is("(")) hint = "only sessions call transactions";
    if (local.text == "while") hint = "loops are written while (a < 3) at most 9 { … }";
    if (local.text == "break")
      hint = "no statement leaves a loop: let the condition of a 'while' say when it ends";
    if (local.text == "retry") hint = "write it behind the call: withdraw(60) retry 2";
    if (local.text == "lock" || local.text == "lock_shared")
      hint = fmt::format("a key is locked like this: {}(x)", local.text);
    if (local.text == "stmt") hint = "one statement of the database is written stmt { … }";
    if (local.text == "return") hint = "a transaction ends with its block, or by 'abort'";
    return tokens_.wrong(fmt::format("':=' after '{}'", local.text), std::move(hint));
  }
  tokens_.take();
  if (!tokens_.peek().is("read")) {
    auto value = expressions_.parse(Context::Transaction);
    if (!value) return value.error();
    statement.value = std::move(*value);
    return statement;
  }
  statement.kind = StmtKind::Read;
  statement.place = tokens_.take().place;
  if (auto open = tokens_.expect("(", "after 'read'", "v := read(x)"); !open) return open.error();
  auto key = parse_key(Context::Transaction);
  if (!key) return key.error();
  statement.key = std::move(*key);
  if (auto close = tokens_.expect(")", "after the key"); !close) return close.error();
  const Token& next = tokens_.peek();
  if (next.kind == TokenKind::Sign && !next.is(";") && !next.is("}"))
    return tokens_.wrong("the end of the statement",
                         "a read is a statement of its own: read into a local first");
  return statement;
}

Result<Stmt> Parser::parse_write() {
  Stmt statement{.kind = StmtKind::Write, .place = tokens_.take().place};
  if (auto open = tokens_.expect("(", "after 'write'", "write(x, 1)"); !open) return open.error();
  auto key = parse_key(Context::Transaction);
  if (!key) return key.error();
  statement.key = std::move(*key);
  if (auto comma = tokens_.expect(",", "and a value after the key", "write(x, 1)"); !comma)
    return comma.error();
  auto value = expressions_.parse(Context::Transaction);
  if (!value) return value.error();
  statement.value = std::move(*value);
  if (auto close = tokens_.expect(")", "after the value"); !close) return close.error();
  return statement;
}

Result<ExprPtr> Parser::parse_condition(std::string_view after) {
  if (auto open = tokens_.expect("(", fmt::format("after '{}'", after)); !open) return open.error();
  auto condition = expressions_.parse(Context::Transaction);
  if (!condition) return condition;
  if (auto close = tokens_.expect(")", "after the condition", hint_for(tokens_.peek())); !close)
    return close.error();
  return condition;
}

Result<Stmt> Parser::parse_if() {
  Stmt statement{.kind = StmtKind::If, .place = tokens_.peek().place};
  for (;;) {
    Arm arm;
    if (tokens_.take_if("if")) {
      auto condition = parse_condition("if");
      if (!condition) return condition.error();
      arm.condition = std::move(*condition);
    }
    auto body = parse_block(arm.condition ? "the 'if'" : "the 'else'");
    if (!body) return body.error();
    arm.body = std::move(*body);
    const bool is_last = !arm.condition;
    statement.arms.push_back(std::move(arm));
    std::size_t ahead = 0;
    while (tokens_.peek(ahead).kind == TokenKind::Newline) ++ahead;
    if (is_last || !tokens_.peek(ahead).is("else")) return statement;
    tokens_.skip_newlines();
    tokens_.take();
  }
}

Result<Stmt> Parser::parse_for() {
  Stmt statement{.kind = StmtKind::For, .place = tokens_.take().place};
  auto local = tokens_.expect_name("a local that counts");
  if (!local) return local.error();
  statement.local = {local->text, local->place};
  if (auto in = tokens_.expect("in", "after the local", "for i in 1..3 { … }"); !in)
    return in.error();
  auto first = expressions_.parse(Context::Transaction);
  if (!first) return first.error();
  statement.value = std::move(*first);
  if (auto dots = tokens_.expect("..", "after the lower end", "for i in 1..3 { … }"); !dots)
    return dots.error();
  auto last = expressions_.parse(Context::Transaction);
  if (!last) return last.error();
  statement.last = std::move(*last);
  auto body = parse_block("the 'for'");
  if (!body) return body.error();
  statement.body = std::move(*body);
  return statement;
}

// while (a < 3) at most 9 { … }
Result<Stmt> Parser::parse_while() {
  constexpr std::string_view kExample = "while (a < 3) at most 9 { … }";
  Stmt statement{.kind = StmtKind::While, .place = tokens_.take().place};
  auto condition = parse_condition("while");
  if (!condition) return condition.error();
  statement.value = std::move(*condition);
  for (const std::string_view word : {"at", "most"}) {
    if (tokens_.peek().text != word)
      return tokens_.wrong("'at most' and a number of rounds after the condition",
                           std::string(kExample));
    tokens_.take();
  }
  auto most = expressions_.parse(Context::Transaction);
  if (!most) return most.error();
  statement.last = std::move(*most);
  auto body = parse_block("the 'while'");
  if (!body) return body.error();
  statement.body = std::move(*body);
  return statement;
}

// lock(x), lock_shared(x)
Result<Stmt> Parser::parse_lock() {
  const Token word = tokens_.take();
  Stmt statement{.kind = word.text == "lock" ? StmtKind::Lock : StmtKind::LockShared,
                 .place = word.place};
  tokens_.take();
  auto key = parse_key(Context::Transaction);
  if (!key) return key.error();
  statement.key = std::move(*key);
  if (auto close = tokens_.expect(")", "after the key", fmt::format("{}(x)", word.text)); !close)
    return close.error();
  return statement;
}

// stmt { … }
Result<Stmt> Parser::parse_one_statement() {
  Stmt statement{.kind = StmtKind::Statement, .place = tokens_.take().place};
  if (in_statement_)
    return Error{.where = statement.place,
                 .what = "a statement has no statements inside",
                 .hint = "leave out the inner 'stmt', or end the outer one before"};
  in_statement_ = true;
  auto body = parse_block("the statement");
  in_statement_ = false;
  if (!body) return body.error();
  statement.body = std::move(*body);
  return statement;
}

Result<Stmt> Parser::parse_assert() {
  Stmt statement{.kind = StmtKind::Assert, .place = tokens_.take().place};
  const std::size_t first = tokens_.position() + 1;
  auto claim = parse_condition("assert");
  if (!claim) return claim.error();
  statement.value = std::move(*claim);
  statement.assertion = add_assertion(first, statement.place);
  std::string& text = syntax_.assertions.back().text;
  text.pop_back();  // the closing parenthesis
  while (text.ends_with(' ')) text.pop_back();
  return statement;
}

Result<KeyExpr> Parser::parse_key(Context context_of_indices) {
  auto key = expressions_.parse_key(context_of_indices);
  if (key) syntax_.families.push_back(key->family.text);
  return key;
}

}  // namespace

Result<Syntax> parse_syntax(std::string_view text) {
  auto tokens = tokenize(text);
  if (!tokens) return tokens.error();
  return Parser(std::move(*tokens)).run();
}

}  // namespace isoscope::txn
