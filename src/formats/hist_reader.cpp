#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/hist.h"
#include "formats/hist_lexer.h"
#include "formats/scan.h"
#include "history/builder.h"

namespace isoscope {

namespace {

using Kind = HistToken::Kind;

// One function a rule of the grammar, each called with its first token in `token_` and left with
// the token behind it.
class HistParser {
 public:
  HistParser(std::string_view text, const Budget& budget) : lexer_(text), budget_(budget) {}

  Result<History> parse() {
    if (auto done = advance(); !done) return done.error();
    while (token_.kind != Kind::End) {
      if (auto done = item(); !done) return done.error();
    }
    builder_.set_initial_syntax(InitialSyntax::Words);
    return std::move(builder_).build_open(&budget_);
  }

 private:
  Result<void> advance() { return lexer_.next(token_); }

  Error expected(std::string_view what, std::string_view hint = {}) const {
    const bool end = token_.kind == Kind::End;
    return Error{.where = token_.place,
                 .what = end ? fmt::format("expected {} before the end of the text", what)
                             : fmt::format("expected {} instead of '{}'", what, token_.text),
                 .hint = std::string(hint)};
  }

  Result<void> expect(char sign) {
    if (!token_.is(sign)) return expected(fmt::format("'{}'", sign));
    return advance();
  }

  // { "init" … | session }
  Result<void> item() {
    if (!token_.is_name())
      return expected("a session", "a session is a name and a colon: s1: [w(x,1)]");
    const HistToken name = token_;
    if (auto done = advance(); !done) return done;
    if (token_.is(':')) {
      if (auto done = advance(); !done) return done;
      return session(name.text);
    }
    if (name.text == "init") return init();
    return Error{.where = token_.place,
                 .what = fmt::format("expected ':' behind the session's name '{}'", name.text),
                 .hint = "a session is a name and a colon: s1: [w(x,1)]"};
  }

  // { key "=" value }, up to a session's name or another init
  Result<void> init() {
    for (;;) {
      const char next = token_.is_name() ? lexer_.peek() : '\0';
      const bool is_init = token_.text == "init" && next != '=' && next != '[';
      const bool is_key = token_.is_name() && next != ':' && !is_init;
      if (!is_key && token_.kind != Kind::String) return {};
      const Place place = token_.place;
      const auto x = key();
      if (!x) return x.error();
      if (!token_.is('='))
        return expected("'=' behind the key", "initial values are like init x=0 stock[1]=10");
      if (auto done = advance(); !done) return done;
      const auto initial = value();
      if (!initial) return initial.error();
      builder_.set_initial(*x, *initial, place);
    }
  }

  // { [ NAME "=" ] "[" { op } "]" … }, up to the next session or init
  Result<void> session(std::string_view name) {
    for (;;) {
      if (budget_.expired()) return limit_error("reading the input");
      const bool named = token_.is_name() && lexer_.peek() == '=';
      if (!named && !token_.is('[')) break;
      if (auto done = transaction(name, named); !done) return done;
    }
    if (token_.is_name() || token_.kind == Kind::End) return {};
    return expected("a transaction or a session", "a transaction stands in brackets: [r(x,0)]");
  }

  Result<void> transaction(std::string_view session_name, bool named) {
    const TxnId t =
        builder_.begin(builder_.session(session_name), TxnStatus::Committed, token_.place);
    if (named) {
      builder_.set_name(t, token_.text);
      if (auto done = advance(); !done) return done;
      if (auto done = expect('='); !done) return done;
    }
    if (!token_.is('[')) return expect('[');
    const bool has_statements = lexer_.has_bar();
    if (auto done = advance(); !done) return done;
    if (auto done = operations(t, has_statements); !done) return done;
    if (auto done = advance(); !done) return done;
    if (token_.is('!') || token_.is('?')) {
      builder_.set_status(t, token_.is('!') ? TxnStatus::Aborted : TxnStatus::Unknown);
      if (auto done = advance(); !done) return done;
    }
    if (token_.is('<')) {
      if (auto done = times(t); !done) return done;
    }
    if (!token_.is('@')) return {};
    const auto level = lexer_.level();
    if (!level) return level.error();
    builder_.set_level(t, *level);
    if (auto done = advance(); !done) return done;
    return token_.is('<') ? times(t) : Result<void>();
  }

  // { op | "|" }, up to the bracket. A bar ends a statement; the last one needs none.
  Result<void> operations(TxnId t, bool has_statements) {
    bool is_begun = false;
    while (!token_.is(']')) {
      if (budget_.expired()) return limit_error("reading the input");
      if (has_statements && !is_begun) builder_.begin_statement(t);
      is_begun = !token_.is('|');
      auto done = is_begun ? operation(t) : advance();
      if (!done) return done;
    }
    return {};
  }

  // "<" int "," [ int ] ">"
  Result<void> times(TxnId t) {
    constexpr std::string_view kTimesHint = "times are like <3,9>, or <3,> if the end is not known";
    if (auto done = advance(); !done) return done;
    TxnTimes times;
    if (token_.kind != Kind::Int) return expected("the time of the start", kTimesHint);
    times.start = token_.number;
    if (auto done = advance(); !done) return done;
    if (!token_.is(',')) return expected("','", kTimesHint);
    if (auto done = advance(); !done) return done;
    if (token_.kind == Kind::Int) {
      times.end = token_.number;
      if (auto done = advance(); !done) return done;
    }
    if (!token_.is('>')) return expected("the time of the end or '>'", kTimesHint);
    builder_.set_times(t, times);
    return advance();
  }

  // ("r"|"w"|"i") "(" key "," … ")" | ("d"|"l"|"ls"|"lk") "(" key ")"
  Result<void> operation(TxnId t) {
    constexpr std::array<std::string_view, 7> kOperations = {"r", "w", "i", "d", "l", "ls", "lk"};
    if (!token_.is_name() ||
        std::find(kOperations.begin(), kOperations.end(), token_.text) == kOperations.end())
      return expected("an operation or ']'",
                      "operations are r(x,1), w(x,1), i(x,1), d(x), l(x), ls(x) and lk(x)");
    const std::string_view word = token_.text;
    const char kind = word[0];
    const Place place = token_.place;
    if (auto done = advance(); !done) return done;
    if (auto done = expect('('); !done) return done;
    auto name = key_name();
    if (!name) return name.error();
    if (kind == 'l') {
      lock(t, *name, word, place);
      return expect(')');
    }
    const KeyId x = key_of(*name);
    if (kind == 'd') {
      builder_.write(t, x, Value::nil(), place);
      return expect(')');
    }
    if (auto done = expect(','); !done) return done;
    if (token_.is('@')) {
      if (kind != 'r')
        return Error{.where = token_.place,
                     .what = "a write cannot name a writer",
                     .hint = "only reads may: r(x,@T1)"};
      if (auto done = advance(); !done) return done;
      if (!token_.is_name()) return expected("the name of a transaction behind '@'");
      builder_.read_from(t, x, token_.text, place);
      if (auto done = advance(); !done) return done;
      return expect(')');
    }
    const auto v = value();
    if (!v) return v.error();
    if (kind == 'r') {
      builder_.read(t, x, *v, place);
    } else if (kind == 'i') {
      builder_.insert(t, x, *v, place);
    } else {
      builder_.write(t, x, *v, place);
    }
    return expect(')');
  }

  void lock(TxnId t, const std::string& name, std::string_view word, Place place) {
    const LockMode mode = word == "l"    ? LockMode::Exclusive
                          : word == "ls" ? LockMode::Share
                                         : LockMode::KeyShare;
    const auto number = canonical_int(name);
    builder_.lock(t, number ? Value::of(*number) : builder_.text(name), mode, place);
  }

  KeyId key_of(const std::string& name) {
    const auto number = canonical_int(name);
    return number ? builder_.key(*number) : builder_.key(name);
  }

  Result<KeyId> key() {
    auto name = key_name();
    if (!name) return name.error();
    return key_of(*name);
  }

  // NAME [ "[" int { "," int } "]" [ "." NAME ] ] | string
  Result<std::string> key_name() {
    if (token_.kind == Kind::String) {
      std::string name = token_.string;
      if (auto done = advance(); !done) return done.error();
      return name;
    }
    if (!token_.is_name())
      return expected("a key", "a key is a name, a name with indices x[1,2], or a string");
    std::string name(token_.text);
    if (auto done = advance(); !done) return done.error();
    if (!token_.is('[')) return name;
    do {
      name.push_back(token_.text[0]);
      if (auto done = advance(); !done) return done.error();
      if (token_.kind != Kind::Int) return expected("an integer as an index");
      name += std::to_string(token_.number);
      if (auto done = advance(); !done) return done.error();
    } while (token_.is(','));
    if (auto done = expect(']'); !done) return done.error();
    name.push_back(']');
    if (!token_.is('.')) return name;
    if (auto done = advance(); !done) return done.error();
    if (!token_.is_name()) return expected("the name of a column behind '.'");
    name.append(".").append(token_.text);
    if (auto done = advance(); !done) return done.error();
    return name;
  }

  Result<Value> value() {
    Value v;
    if (token_.kind == Kind::Int) {
      v = Value::of(token_.number);
    } else if (token_.kind == Kind::String) {
      v = builder_.text(token_.string);
    } else if (!token_.is_name() || token_.text != "nil") {
      return expected("a value", "a value is an integer, a string in double quotes, or nil");
    }
    if (auto done = advance(); !done) return done.error();
    return v;
  }

  HistLexer lexer_;
  Budget budget_;
  HistToken token_;
  HistoryBuilder builder_{InitialValues::ZeroOrNil};
};

}  // namespace

Result<History> read_hist(std::string_view text, const Budget& budget) {
  return HistParser(text, budget).parse();
}

}  // namespace isoscope
