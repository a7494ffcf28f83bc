#include "sql/read/nesting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "sql/read/source_text.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

// Around what comes before them, whatever separates that.
constexpr std::array<std::string_view, 6> kSteady = {"join",      "union",  "except",
                                                     "intersect", "select", "with"};
// Operators that are words.
constexpr std::array<std::string_view, 16> kOperators = {
    "not",  "is",      "collate", "at",      "between",  "in",     "like",   "ilike",
    "over", "similar", "isnull",  "notnull", "operator", "filter", "escape", "overlaps"};
// Behind them, something new begins.
constexpr std::array<std::string_view, 5> kSeparators = {"when", "then", "else", "elsif", "elseif"};

bool is_operator_sign(char first) {
  return std::string_view("+-*/<>=~!@#%^&|`?:").find(first) != std::string_view::npos;
}

class Meter {
 public:
  explicit Meter(TextKind kind) : is_body_(kind == TextKind::PlpgsqlBody) {}

  void read(std::string_view token) {
    const bool is_word = std::isalpha(static_cast<unsigned char>(token.front())) != 0;
    const std::string_view before = std::exchange(before_, token);
    if (!is_word) {
      read_sign(token);
      return;
    }
    if (before == ".") return;  // a name, whatever it looks like
    const std::string word = lower_case(token);
    const bool is_block = word == "if" || word == "loop" || word == "begin";
    if ((is_block || word == "case") && is_end(before)) return;  // END IF
    if (word == "case" || (is_body_ && is_block)) {
      open(Kind::Block);
    } else if (word == "end") {
      if (top().kind == Kind::Block) close();
    } else if (word == "and" && top().betweens > 0) {
      --top().betweens;
      ++top().operators;
    } else if (word == "and" || word == "or") {
      (word == "and" ? top().has_and : top().has_or) = true;
      separate();
    } else if (is_one_of(word, kSeparators)) {
      separate();
    } else if (is_one_of(word, kSteady)) {
      ++top().steady;
    } else if (is_one_of(word, kOperators)) {
      if (word == "between") ++top().betweens;
      ++top().operators;
    }
  }

  // Of what is open: a bound for the levels from the root to here.
  int depth() const { return outside_ + top().depth(); }

 private:
  enum class Kind : std::uint8_t { Bracket, Block };
  // What is open and not closed yet. Of several AND in a row the parser makes one, and so with OR.
  struct Level {
    Kind kind = Kind::Bracket;
    bool has_and = false;
    bool has_or = false;
    int steady = 0;
    int operators = 0;  // since the last separator
    int betweens = 0;   // whose AND is still to come
    int deepest = 0;    // closed since the last separator
    int widest = 0;     // of the parts before

    int around_parts() const { return 1 + (has_and ? 1 : 0) + (has_or ? 1 : 0) + steady; }
    int around() const { return around_parts() + operators; }  // around what is opened next
    int depth() const { return around() + deepest; }
    int closed_depth() const { return around_parts() + std::max(widest, operators + deepest); }
  };

  Level& top() { return levels_.back(); }
  const Level& top() const { return levels_.back(); }

  void open(Kind kind) {
    outside_ += top().around();
    levels_.push_back({.kind = kind});
  }
  void close() {
    if (levels_.size() == 1) return;
    const int inner = top().closed_depth();
    levels_.pop_back();
    outside_ -= top().around();
    top().deepest = std::max(top().deepest, inner);
  }
  // No block is open inside of a bracket: what looked like one was a name.
  void close_bracket() {
    const bool has_bracket = std::ranges::any_of(
        levels_.begin() + 1, levels_.end(), [](const Level& l) { return l.kind == Kind::Bracket; });
    if (!has_bracket) return;
    while (top().kind != Kind::Bracket) close();
    close();
  }
  void separate() {
    Level& level = top();
    level.widest = std::max(level.widest, level.operators + level.deepest);
    level.operators = 0;
    level.betweens = 0;
    level.deepest = 0;
  }

  void read_sign(std::string_view token) {
    const char first = token.front();
    if (token == "(" || token == "[") {
      open(Kind::Bracket);
    } else if (token == ")" || token == "]") {
      close_bracket();
    } else if (token == ";" && is_body_) {
      top() = {.kind = top().kind};  // of the blocks around, the next statement is a part, too
    } else if (token == ";") {
      levels_.assign(1, {});
      outside_ = 0;
    } else if (token == ",") {
      separate();
    } else if (is_operator_sign(first)) {
      ++top().operators;
    }
  }

  static bool is_end(std::string_view token) {
    return std::ranges::equal(token, std::string_view("end"), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  }

  bool is_body_;
  std::string_view before_;  // the token before
  std::vector<Level> levels_ = std::vector<Level>(1);
  int outside_ = 0;  // levels of what is around the top
};

}  // namespace

std::optional<Error> find_too_deep(std::string_view text, std::span<const SqlToken> tokens,
                                   TextKind kind) {
  Meter meter(kind);
  for (const SqlToken& token : tokens) {
    const std::string_view word = text.substr(token.begin, token.end - token.begin);
    if (is_comment(word)) continue;
    meter.read(word);
    if (meter.depth() <= kMaxLevels) continue;
    return Error{
        .where = LineIndex(text).place(token.begin),
        .what = "this statement nests too deeply",
        .hint = fmt::format("at most {} brackets, operators and blocks in each other", kMaxLevels)};
  }
  return std::nullopt;
}

}  // namespace isoscope::sql
