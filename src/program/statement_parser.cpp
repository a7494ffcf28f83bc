#include "program/statement_parser.h"

#include <fmt/format.h>

#include <array>

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

}  // namespace

AssertionId StatementParser::add_assertion(std::size_t first_token, Place place) {
  const AssertionId id = syntax_.assertions.next_id();
  syntax_.assertions.push_back({tokens_.text_from(first_token), place});
  return id;
}

Result<Block> StatementParser::parse_block(std::string_view of_what) {
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

Result<Stmt> StatementParser::parse_statement() {
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

Result<Stmt> StatementParser::parse_assignment() {
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

Result<Stmt> StatementParser::parse_write() {
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

Result<ExprPtr> StatementParser::parse_condition(std::string_view after) {
  if (auto open = tokens_.expect("(", fmt::format("after '{}'", after)); !open) return open.error();
  auto condition = expressions_.parse(Context::Transaction);
  if (!condition) return condition;
  if (auto close = tokens_.expect(")", "after the condition", hint_for(tokens_.peek())); !close)
    return close.error();
  return condition;
}

Result<Stmt> StatementParser::parse_if() {
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

Result<Stmt> StatementParser::parse_for() {
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
Result<Stmt> StatementParser::parse_while() {
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
Result<Stmt> StatementParser::parse_lock() {
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
Result<Stmt> StatementParser::parse_one_statement() {
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

Result<Stmt> StatementParser::parse_assert() {
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

Result<KeyExpr> StatementParser::parse_key(Context context_of_indices) {
  auto key = expressions_.parse_key(context_of_indices);
  if (key) syntax_.families.push_back(key->family.text);
  return key;
}

}  // namespace isoscope::txn
