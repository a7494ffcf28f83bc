#include "force/spec_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/blanks.h"
#include "support/text_cursor.h"

namespace isoscope::force {
namespace {

bool is_name_part(char c) { return lexical::continues_name(c) || c == '$'; }

struct SpecToken {
  enum class Kind : std::uint8_t { Word, Quoted, Block, Sign, End };
  Kind kind = Kind::End;
  std::string text = {};
  Place place = {};
  sql::SqlBlock inside = {};  // of a Block: what stands between its braces
};

class SpecLexer {
 public:
  explicit SpecLexer(std::string_view text) : at_(text) {}

  Result<SpecToken> next() {
    skip_blanks();
    const Place place = at_.place();
    if (at_.at_end()) return SpecToken{.place = place};
    const char c = at_.here();
    if (c == '"') return quoted(place);
    if (c == '{') return block(place);
    if (is_name_part(c))
      return SpecToken{SpecToken::Kind::Word, std::string(at_.take(at_.span_of(is_name_part))),
                       place};
    at_.step();
    if (c == '(' || c == ')' || c == ',' || c == '*')
      return SpecToken{SpecToken::Kind::Sign, std::string(1, c), place};
    return Error{.where = place, .what = fmt::format("'{}' has no place here", c)};
  }

 private:
  void skip_blanks() {
    while (!at_.at_end()) {
      if (at_.here() == '\n') {
        at_.step_line();
      } else if (at_.here() == '#') {
        at_.step_to_line_end();
      } else if (blanks::in_sql(at_.here())) {
        at_.step();
      } else {
        return;
      }
    }
  }
  Result<SpecToken> quoted(Place place) {
    std::string name;
    for (at_.step(); !at_.at_end() && at_.here() != '\n'; at_.step()) {
      if (at_.here() == '"') {
        at_.step();
        if (at_.at_end() || at_.here() != '"')
          return SpecToken{SpecToken::Kind::Quoted, std::move(name), place};
      }
      name += at_.here();
    }
    return Error{.where = place, .what = "the name in quotes does not end on its line"};
  }
  Result<SpecToken> block(Place place) {
    at_.step();
    sql::SqlBlock inside{.begin = static_cast<std::uint32_t>(at_.offset())};
    while (!at_.at_end() && at_.here() != '}') {
      if (at_.here() == '\n') {
        at_.step_line();
      } else {
        at_.step();
      }
    }
    if (at_.at_end())
      return Error{.where = place, .what = "the block is not closed", .hint = "add a '}'"};
    inside.end = static_cast<std::uint32_t>(at_.offset());
    at_.step();
    const std::string_view sql = at_.text().substr(inside.begin, inside.end - inside.begin);
    return SpecToken{SpecToken::Kind::Block, std::string(trimmed(sql, blanks::in_sql)), place,
                     inside};
  }

  TextCursor at_;
};

class SpecReader {
 public:
  explicit SpecReader(std::string_view text) : lexer_(text) {}

  Result<Spec> read() {
    advance();
    while (is_word("setup")) {
      spec_.setups.push_back(block_after_word());
      spec_.places.schema.push_back(last_block_);
      if (spec_.setups.size() > kMost) fail("too many setups");
    }
    if (is_word("teardown")) spec_.teardown = block_after_word();
    while (is_word("session")) session();
    if (spec_.sessions.empty()) fail("a specification has at least one session");
    while (is_word("permutation")) permutation();
    if (token_.kind != SpecToken::Kind::End)
      fail(fmt::format("expected {}, not '{}'",
                       spec_.permutations.empty() ? "a session or a permutation" : "a permutation",
                       token_.text));
    if (error_) return *error_;
    return std::move(spec_);
  }

 private:
  static constexpr std::size_t kMost = 10'000;

  void fail(std::string what, std::string hint = {}) {
    if (!error_)
      error_ = Error{.where = token_.place, .what = std::move(what), .hint = std::move(hint)};
    token_ = {};  // every loop ends
  }
  void advance() {
    auto token = lexer_.next();
    if (!token) {
      if (!error_) error_ = token.error();
      token_ = {};
    } else if (!error_) {
      token_ = std::move(*token);
    }
  }
  bool is_word(std::string_view word) const {
    return token_.kind == SpecToken::Kind::Word && token_.text == word;
  }
  std::string block_after_word() {
    const std::string word = token_.text;
    advance();
    return block(word);
  }
  std::string block(const std::string& of) {
    if (token_.kind != SpecToken::Kind::Block) {
      fail(fmt::format("expected the SQL of {} in braces", of));
      return {};
    }
    std::string sql = std::move(token_.text);
    last_block_ = token_.inside;
    advance();
    return sql;
  }
  std::string name(const std::string& of) {
    const bool is_name =
        token_.kind == SpecToken::Kind::Quoted ||
        (token_.kind == SpecToken::Kind::Word && lexical::starts_name(token_.text.front()));
    if (!is_name) {
      fail(fmt::format("expected the name of a {}", of));
      return {};
    }
    std::string text = std::move(token_.text);
    advance();
    return text;
  }

  void session() {
    advance();
    const Place place = token_.place;
    SpecSession session{.name = name("session")};
    if (std::ranges::find(spec_.sessions, session.name, &SpecSession::name) != spec_.sessions.end())
      return fail_at(place, fmt::format("there is another session {}", session.name));
    sql::BlockSession places{.name = session.name};
    if (is_word("setup")) {
      session.setup = block_after_word();
      places.blocks.push_back(last_block_);
    }
    while (is_word("step")) {
      advance();
      const Place where = token_.place;
      SpecStep step{.name = name("step"), .sql = {}, .place = where};
      step.sql = block("step " + step.name);
      const PermutationStep number{.session = spec_.sessions.next_id(),
                                   .step = session.steps.next_id()};
      if (!error_ && !steps_.emplace(step.name, number).second)
        return fail_at(where, fmt::format("there is another step {}", step.name));
      session.steps.push_back(std::move(step));
      places.blocks.push_back(last_block_);
    }
    if (session.steps.empty()) return fail("a session has at least one step");
    if (is_word("teardown")) session.teardown = block_after_word();
    spec_.sessions.push_back(std::move(session));
    spec_.places.sessions.push_back(std::move(places));
  }
  void fail_at(Place place, std::string what) {
    token_.place = place;
    fail(std::move(what));
  }

  void permutation() {
    advance();
    Permutation permutation;
    ById<ActorId, StepId> next(spec_.sessions.size());
    while (token_.kind == SpecToken::Kind::Quoted ||
           (token_.kind == SpecToken::Kind::Word && !is_word("permutation"))) {
      const Place place = token_.place;
      const std::string step = name("step");
      const auto found = steps_.find(step);
      if (error_) return;
      if (found == steps_.end()) return fail_at(place, fmt::format("there is no step {}", step));
      StepId& expected = next[found->second.session];
      if (found->second.step != expected)
        return fail_at(place, fmt::format("step {} is out of the order of its session", step));
      ++expected;
      permutation.push_back(found->second);
      if (token_.kind == SpecToken::Kind::Sign && token_.text == "(") markers(permutation.back());
    }
    if (permutation.empty()) return fail("a permutation has at least one step");
    spec_.permutations.push_back(std::move(permutation));
  }

  void markers(PermutationStep& step) {
    advance();
    while (!(token_.kind == SpecToken::Kind::Sign && token_.text == ")")) {
      if (token_.kind == SpecToken::Kind::End || token_.kind == SpecToken::Kind::Block)
        return fail("expected ')'");
      if (token_.text == ",") {
        step.markers += ", ";
      } else {
        if (!step.markers.empty() && !step.markers.ends_with(' ')) step.markers += ' ';
        step.markers +=
            token_.kind == SpecToken::Kind::Quoted ? '"' + token_.text + '"' : token_.text;
      }
      advance();
    }
    advance();
  }

  SpecLexer lexer_;
  SpecToken token_;
  std::optional<Error> error_;
  Spec spec_;
  sql::SqlBlock last_block_;
  std::map<std::string, PermutationStep> steps_;
};

std::string spec_name(const std::string& name) {
  static const std::set<std::string> kWords = {"setup", "teardown",    "session",
                                               "step",  "permutation", "notices"};
  const bool is_plain = !name.empty() && lexical::starts_name(name.front()) &&
                        !kWords.contains(name) && std::ranges::all_of(name, is_name_part);
  if (is_plain) return name;
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string spec_block(const std::string& sql) {
  return sql.find('\n') == std::string::npos ? fmt::format("{{ {} }}", sql)
                                             : fmt::format("{{\n{}\n}}", sql);
}

}  // namespace

const SpecStep* step_of(const SpecSession& session, StatementId statement) {
  if (statement == kSetup || statement.index > session.steps.size()) return nullptr;
  return &session.steps[{statement.index - 1}];
}

Result<Spec> read_spec(std::string_view text) {
  auto spec = SpecReader(text).read();
  if (!spec) return spec.error().quoting(text);
  return spec;
}

std::string write_spec(const Spec& spec) {
  std::string out;
  for (const std::string& setup : spec.setups) out += fmt::format("setup {}\n", spec_block(setup));
  if (!spec.teardown.empty()) out += fmt::format("teardown {}\n", spec_block(spec.teardown));
  for (const SpecSession& session : spec.sessions) {
    out += fmt::format("\nsession {}\n", spec_name(session.name));
    if (!session.setup.empty()) out += fmt::format("setup {}\n", spec_block(session.setup));
    for (const SpecStep& step : session.steps)
      out += fmt::format("step {} {}\n", spec_name(step.name), spec_block(step.sql));
    if (!session.teardown.empty())
      out += fmt::format("teardown {}\n", spec_block(session.teardown));
  }
  if (!spec.permutations.empty()) out += '\n';
  for (const Permutation& permutation : spec.permutations) {
    out += "permutation";
    for (const PermutationStep& p : permutation) {
      out += ' ' + spec_name(spec.sessions[p.session].steps[p.step].name);
      if (!p.markers.empty()) out += '(' + p.markers + ')';
    }
    out += '\n';
  }
  return out;
}

bool looks_like_spec(std::string_view text) {
  SpecLexer lexer(text);
  auto first = lexer.next();
  if (!first || first->kind != SpecToken::Kind::Word) return false;
  auto second = lexer.next();
  if (!second) return false;
  if (first->text == "setup" || first->text == "teardown")
    return second->kind == SpecToken::Kind::Block;
  if (first->text != "session") return false;
  auto third = lexer.next();
  return third && third->kind == SpecToken::Kind::Word &&
         (third->text == "step" || third->text == "setup");
}

std::vector<Permutation> all_permutations(const Spec& spec, std::size_t most, bool& is_complete) {
  std::vector<Permutation> all;
  is_complete = true;
  Permutation current;
  ById<ActorId, StepId> next(spec.sessions.size());
  const auto recurse = [&](const auto& self) -> void {
    bool is_leaf = true;
    for (const ActorId s : next.ids()) {
      if (!spec.sessions[s].steps.contains(next[s])) continue;
      is_leaf = false;
      if (all.size() == most) {
        is_complete = false;
        return;
      }
      current.push_back({.session = s, .step = next[s]});
      ++next[s];
      self(self);
      next[s] = current.back().step;
      current.pop_back();
    }
    if (is_leaf && !current.empty()) all.push_back(current);
  };
  recurse(recurse);
  return all;
}

}  // namespace isoscope::force
