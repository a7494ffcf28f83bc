#include "spec/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spec/words.h"
#include "support/spelling.h"
#include "support/token_stream.h"

namespace isoscope {

namespace {

struct Operator {
  std::string_view sign;
  int power;  // the higher, the tighter it binds
  bool to_the_right;
};

constexpr std::array<Operator, 11> kOperators = {{{"iff", 1, false},
                                                  {"implies", 2, true},
                                                  {"or", 3, false},
                                                  {"and", 4, false},
                                                  {"subset", 6, false},
                                                  {"=", 6, false},
                                                  {"!=", 6, false},
                                                  {"|", 7, false},
                                                  {"\\", 8, false},
                                                  {"&", 9, false},
                                                  {";", 10, false}}};
constexpr int kPowerOfNot = 5;
// Calls of parse_phrase under way. A right operand in parentheses is two of them a level of the
// tree, so any tree that kMaxDepth allows can be written.
constexpr int kMaxOpen = 3 * kMaxDepth;

class Parser : private TokenStreamOf<Token> {
 public:
  Parser(std::string_view text, Tokens tokens)
      : TokenStreamOf(std::move(tokens.all)), text_(text), comments_(std::move(tokens.comments)) {}

  Result<std::vector<LevelSyntax>> run() {
    std::vector<LevelSyntax> levels;
    while (peek().kind != TokenKind::End) {
      if (!peek().is("level"))
        return wrong("'level'",
                     "a declaration belongs to the level that stands above it: "
                     "level NAME over co");
      auto level = parse_level();
      if (!level) return level.error();
      levels.push_back(std::move(*level));
    }
    return levels;
  }

 private:
  // A fresh name for a level's parts: no word of the language.
  Result<Token> expect_name(std::string_view what) {
    if (!peek().is_name()) return wrong(what);
    if (is_reserved(peek().text)) return is_a_word(what);
    return take();
  }

  Result<LevelSyntax> parse_level();
  Result<NameOfLevel> parse_level_name();
  Result<void> parse_framework(LevelSyntax& level);
  Result<void> parse_parameters(Declaration& let);
  Result<Declaration> parse_declaration();
  std::string summary_of(const Token& first, const Token& last_of_header) const;
  std::string slice(const Token& first, const Token& last) const {
    return std::string(text_.substr(first.offset, last.end() - first.offset));
  }

  Result<PhrasePtr> parse_phrase(int power);
  Result<PhrasePtr> parse_operand();
  Result<PhrasePtr> parse_quantified();
  Result<PhrasePtr> parse_postfix(PhrasePtr operand);
  Result<PhrasePtr> parse_application(PhrasePtr applied);
  Result<Binder> parse_binder();
  Result<PhrasePtr> make(PhraseKind kind, const Token& token, std::vector<PhrasePtr> parts,
                         std::vector<Binder> binders = {}) const;
  Error too_deep(Place place) const {
    return Error{.where = place,
                 .what = fmt::format("this nests deeper than {}", kMaxDepth),
                 .hint = "split the axiom, or name parts of it with 'let'"};
  }

  std::string_view text_;
  std::vector<Comment> comments_;
  int open_ = 0;  // calls of parse_phrase under way
};

Result<LevelSyntax> Parser::parse_level() {
  LevelSyntax level;
  const Token first = take();  // level
  auto name = parse_level_name();
  if (!name) return name.error();
  level.name = std::move(*name);
  if (auto over = expect("over", "after the level's name",
                         "level NAME over co, over vis, ar or over co, snap");
      !over)
    return over.error();
  if (auto framework = parse_framework(level); !framework) return framework.error();
  if (peek().is("without")) {
    level.without_so = take().place;
    if (auto so = expect("so", "after 'without'", "only session order can be left out"); !so)
      return so.error();
  }
  if (take_if("extends")) {
    do {
      auto base = parse_level_name();
      if (!base) return base.error();
      level.bases.push_back(std::move(*base));
    } while (take_if(","));
  }
  level.summary = summary_of(first, last());
  while (peek().is("let") || peek().is("axiom")) {
    auto declaration = parse_declaration();
    if (!declaration) return declaration.error();
    level.declarations.push_back(std::move(*declaration));
  }
  if (peek().kind != TokenKind::End && !peek().is("level"))
    return wrong("'let', 'axiom' or 'level'",
                 level.declarations.empty() ? "level NAME over co extends OTHER" : "");
  level.text = slice(first, last());
  return level;
}

// NAME { ( "-" | "+" | "." ) NAME } [ "+" ], without blanks between.
Result<NameOfLevel> Parser::parse_level_name() {
  // Only a whole name must not be a word of the language: read-your-writes is none.
  const auto is_compound = [&] {
    if (!peek().is_name()) return false;
    const Token& sign = peek(1);
    return sign.offset == peek().end() && (sign.is("-") || sign.is("+") || sign.is("."));
  };
  auto head = is_compound() ? Result<Token>(take()) : expect_name("the name of a level");
  if (!head) return head.error();
  NameOfLevel name{std::string(head->text), head->place};
  while (peek().is("-") || peek().is("+") || peek().is(".")) {
    const Token sign = take();
    name.name += sign.text;
    if (peek().is_name() && peek().offset == sign.end()) {
      name.name += take().text;
    } else if (sign.is("+")) {
      break;
    } else {
      return wrong(fmt::format("the rest of the level's name after '{}'", sign.text));
    }
  }
  name.name = lower_case(name.name);
  return name;
}

Result<void> Parser::parse_framework(LevelSyntax& level) {
  const std::string hint =
      "a level is 'over co', 'over co, wr free', 'over vis, ar' or 'over co, snap'";
  if (take_if("co")) {
    level.framework = Framework::Co;
    if (!take_if(",")) return {};
    if (take_if("snap")) {
      level.framework = Framework::CoSnap;
      return {};
    }
    if (!peek().is("wr")) return wrong("'snap' or 'wr free' after 'co,'", hint);
    level.wr_free = take().place;
    if (auto free = expect("free", "after 'wr'", hint); !free) return free.error();
    return {};
  }
  if (!take_if("vis")) return wrong("'co' or 'vis, ar'", hint);
  if (auto comma = expect(",", "after 'vis'", hint); !comma) return comma.error();
  if (auto ar = expect("ar", "after 'vis,'", hint); !ar) return ar.error();
  level.framework = Framework::VisAr;
  return {};
}

// ( NAME { "," NAME } )
Result<void> Parser::parse_parameters(Declaration& let) {
  take();  // (
  do {
    auto name = expect_name("a parameter of the let");
    if (!name) return name.error();
    for (const Token& known : let.parameters) {
      if (known.text == name->text)
        return Error{.where = name->place,
                     .what = fmt::format("two parameters are called '{}'", name->text),
                     .hint = "take another name"};
    }
    let.parameters.push_back(*name);
  } while (take_if(","));
  auto close = expect(")", "after the parameters", "let f(r, s) = relation");
  if (!close) return close.error();
  return {};
}

Result<Declaration> Parser::parse_declaration() {
  Declaration declaration;
  declaration.keyword = take();
  const bool is_let = declaration.keyword.is("let");
  auto name = expect_name(is_let ? "a name for the relation" : "a name for the axiom");
  if (!name) return name.error();
  declaration.name = *name;
  if (is_let && peek().is("(")) {
    if (auto parameters = parse_parameters(declaration); !parameters) return parameters.error();
  }
  auto sign = is_let ? expect("=", "after the name", "let NAME = relation")
                     : expect(":", "after the axiom's name", "axiom NAME: formula");
  if (!sign) return sign.error();
  auto body = parse_phrase(0);
  if (!body) return body.error();
  declaration.body = std::move(*body);
  declaration.text = slice(declaration.keyword, last());
  return declaration;
}

// The comment beside the declaration, or else the comment lines that end right above it.
std::string Parser::summary_of(const Token& first, const Token& last_of_header) const {
  const auto& comments = comments_;
  const auto first_after = [&](std::size_t offset) {
    return std::lower_bound(comments.begin(), comments.end(), offset,
                            [](const Comment& c, std::size_t o) { return c.offset < o; });
  };
  const auto beside = first_after(last_of_header.offset);
  if (beside != comments.end() && beside->place.line == last_of_header.place.line)
    return std::string(beside->text);
  const auto end = first_after(first.offset);
  auto begin = end;
  for (std::uint32_t line = first.place.line - 1;
       begin != comments.begin() && std::prev(begin)->stands_alone &&
       std::prev(begin)->place.line == line;
       --line)
    --begin;
  std::string above;
  for (auto comment = begin; comment != end; ++comment) {
    if (!above.empty() && !comment->text.empty()) above += ' ';
    above += comment->text;
  }
  return above;
}

Result<PhrasePtr> Parser::make(PhraseKind kind, const Token& token, std::vector<PhrasePtr> parts,
                               std::vector<Binder> binders) const {
  Phrase phrase{kind, token, token.place, std::move(parts), std::move(binders), 1};
  for (const PhrasePtr& part : phrase.parts) {
    phrase.begin = std::min(phrase.begin, part->begin);
    phrase.depth = std::max(phrase.depth, part->depth + 1);
  }
  if (phrase.depth > kMaxDepth) return too_deep(phrase.token.place);
  return PhrasePtr(std::make_unique<Phrase>(std::move(phrase)));
}

// Joins operands as long as the operator between them binds tighter than `power`.
Result<PhrasePtr> Parser::parse_phrase(int power) {
  if (open_ >= kMaxOpen) return too_deep(peek().place);
  ++open_;
  auto left = parse_operand();
  while (left) {
    const auto* op = std::find_if(kOperators.begin(), kOperators.end(),
                                  [&](const Operator& o) { return peek().is(o.sign); });
    if (op == kOperators.end() || op->power <= power) break;
    const Token sign = take();
    auto right = parse_phrase(op->to_the_right ? op->power - 1 : op->power);
    if (!right) return right;
    std::vector<PhrasePtr> parts;
    parts.push_back(std::move(*left));
    parts.push_back(std::move(*right));
    left = make(PhraseKind::Binary, sign, std::move(parts));
  }
  --open_;
  return left;
}

Result<PhrasePtr> Parser::parse_operand() {
  if (peek().is("forall") || peek().is("exists")) return parse_quantified();
  if (peek().is("not")) {
    const Token sign = take();
    auto operand = parse_phrase(kPowerOfNot);
    if (!operand) return operand;
    std::vector<PhrasePtr> parts;
    parts.push_back(std::move(*operand));
    return make(PhraseKind::Not, sign, std::move(parts));
  }
  if (peek().is("(") || peek().is("[")) {
    const Token open = take();
    auto inner = parse_phrase(0);
    if (!inner) return inner;
    const bool is_set = open.is("[");
    auto close = expect(
        is_set ? "]" : ")", "here",
        fmt::format("it closes the '{}' at {}:{}", open.text, open.place.line, open.place.column));
    if (!close) return close.error();
    if (!is_set) return parse_postfix(std::move(*inner));
    std::vector<PhrasePtr> parts;
    parts.push_back(std::move(*inner));
    auto set = make(PhraseKind::Set, open, std::move(parts));
    if (!set) return set;
    return parse_postfix(std::move(*set));
  }
  if (!peek().is_name() || is_keyword(peek().text))
    return wrong("a formula or a relation",
                 peek().is("-") ? "set difference is '\\', the inverse is '^-1'" : "");
  auto name = make(PhraseKind::Name, take(), {});
  if (!name) return name;
  return parse_postfix(std::move(*name));
}

Result<PhrasePtr> Parser::parse_postfix(PhrasePtr operand) {
  Result<PhrasePtr> phrase = std::move(operand);
  while (phrase) {
    if (peek().is("(")) {
      phrase = parse_application(std::move(*phrase));
      continue;
    }
    const bool is_index = peek().is("[");
    if (!is_index && !peek().is("+") && !peek().is("*") && !peek().is("?") && !peek().is("^-1"))
      break;
    const Token sign = take();
    std::vector<PhrasePtr> parts;
    parts.push_back(std::move(*phrase));
    if (is_index) {
      auto key = expect_name("a key variable");
      if (!key) return key.error();
      auto index = make(PhraseKind::Name, *key, {});
      if (!index) return index;
      parts.push_back(std::move(*index));
      if (auto close = expect("]", "after the key", "wr[x]"); !close) return close.error();
    }
    phrase = make(is_index ? PhraseKind::Index : PhraseKind::Postfix, sign, std::move(parts));
  }
  return phrase;
}

Result<PhrasePtr> Parser::parse_application(PhrasePtr applied) {
  const Token open = take();
  std::vector<PhrasePtr> parts;
  parts.push_back(std::move(applied));
  do {
    auto argument = parse_phrase(0);
    if (!argument) return argument;
    parts.push_back(std::move(*argument));
  } while (take_if(","));
  auto close =
      expect(")", "after the arguments",
             fmt::format("it closes the '(' at {}:{}", open.place.line, open.place.column));
  if (!close) return close.error();
  return make(PhraseKind::Apply, open, std::move(parts));
}

Result<PhrasePtr> Parser::parse_quantified() {
  const Token quantifier = take();
  std::vector<Binder> binders;
  do {
    auto binder = parse_binder();
    if (!binder) return binder.error();
    binders.push_back(std::move(*binder));
  } while (take_if(","));
  if (auto dot = expect(".", "after the variables",
                        fmt::format("{} x: key, t: txn. formula", quantifier.text));
      !dot)
    return dot.error();
  auto body = parse_phrase(0);
  if (!body) return body;
  std::vector<PhrasePtr> parts;
  parts.push_back(std::move(*body));
  return make(PhraseKind::Quantified, quantifier, std::move(parts), std::move(binders));
}

Result<Binder> Parser::parse_binder() {
  Binder binder;
  do {
    auto name = expect_name("a variable");
    if (!name) return name.error();
    binder.names.push_back(*name);
  } while (take_if(","));
  if (auto colon = expect(":", "and a sort after the variable", "forall x: key, t1, t2: txn. …");
      !colon)
    return colon.error();
  if (find_word(kSortWords, peek().text) == nullptr)
    return wrong("a sort", peek().is_name() ? suggest(peek().text, texts_of(kSortWords))
                                            : "the sorts are txn, key and read");
  binder.sort = take();
  return binder;
}

}  // namespace

Result<std::vector<LevelSyntax>> parse_levels(std::string_view text) {
  auto tokens = tokenize(text);
  if (!tokens) return tokens.error().quoting(text);
  auto levels = Parser(text, std::move(*tokens)).run();
  if (!levels) return levels.error().quoting(text);
  return levels;
}

}  // namespace isoscope
