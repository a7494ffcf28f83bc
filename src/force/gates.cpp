#include "force/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "sql/pg_parse.h"
#include "sql/source_text.h"

namespace isoscope::force {
namespace {

std::string lower_word(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

// Finds where the statements of a body begin that run SQL.
class GateFinder {
 public:
  explicit GateFinder(std::vector<std::string> words) : words_(std::move(words)) {}

  // The tokens before which a gate goes.
  std::vector<std::size_t> find() {
    std::vector<std::size_t> gates;
    bool is_start = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (in_declarations_) {
        if (word == "begin") in_declarations_ = false, is_start = true;
        continue;
      }
      if (word == "declare") {
        in_declarations_ = true;
        continue;
      }
      if (is_start && runs_sql(i)) gates.push_back(i);
      if (!is_start && word == "case" && (i == 0 || words_[i - 1] != "end")) ++cases_;
      const bool closes_case = word == "end" && cases_ > 0;
      if (closes_case) --cases_;
      is_start = word == ";" || word == "begin" || word == "loop" ||
                 (cases_ == 0 && !closes_case && (word == "then" || word == "else"));
      if (word == ";") cases_ = 0;
    }
    return gates;
  }

 private:
  // Does the statement from this token on, up to its end or the body it controls, run SQL?
  bool runs_sql(std::size_t begin) const {
    static constexpr std::array kStatements = {"select", "insert",  "update", "delete", "perform",
                                               "with",   "execute", "merge",  "lock"};
    if (std::ranges::find(kStatements, words_[begin]) != kStatements.end()) return true;
    // What an expression or a loop looks up is SQL too. A condition after ELSIF cannot have a gate.
    if (words_[begin] == "elsif" || words_[begin] == "elseif" || words_[begin] == "when")
      return false;
    int cases = 0;
    for (std::size_t i = begin; i < words_.size(); ++i) {
      if (words_[i] == "case" && i > begin) ++cases;
      if (words_[i] == "end" && cases > 0) --cases;
      if (words_[i] == ";" || words_[i] == "loop" || (words_[i] == "then" && cases == 0))
        return false;
      if (words_[i] == "select") return true;
    }
    return false;
  }

  std::vector<std::string> words_;
  bool in_declarations_ = false;
  int cases_ = 0;  // CASE expressions that are open
};

std::string gated_body(const std::string& body, const std::string& schema) {
  auto tokens = sql::scan_sql(body);
  if (!tokens) return body;
  std::vector<std::string> words;
  std::vector<std::size_t> places;
  for (const sql::SqlToken& token : *tokens) {
    const std::string_view text =
        std::string_view(body).substr(token.begin, token.end - token.begin);
    if (sql::is_comment(text)) continue;
    words.push_back(lower_word(text));
    places.push_back(token.begin);
  }
  std::string out;
  std::size_t copied = 0;
  for (const std::size_t gate : GateFinder(std::move(words)).find()) {
    out += body.substr(copied, places[gate] - copied);
    out += fmt::format("PERFORM {}.isoscope_gate(); ", schema);
    copied = places[gate];
  }
  return out + body.substr(copied);
}

}  // namespace

Result<std::string> with_gates(std::string_view application, const std::string& schema) {
  auto tokens = sql::scan_sql(application);
  if (!tokens) return tokens.error();
  std::string out;
  std::size_t copied = 0;
  std::vector<std::string> statement;  // the words of the statement so far
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const sql::SqlToken& token = (*tokens)[i];
    const std::string_view text = application.substr(token.begin, token.end - token.begin);
    if (sql::is_comment(text)) continue;
    statement.push_back(lower_word(text));
    if (statement.back() == ";") statement.clear();
    if (!text.starts_with('$') || statement.empty() || statement[0] != "create") continue;
    // LANGUAGE may stand before or after the body.
    bool is_plpgsql = std::ranges::find(statement, "plpgsql") != statement.end();
    for (std::size_t j = i + 1; j < tokens->size() && !is_plpgsql; ++j) {
      const sql::SqlToken& later = (*tokens)[j];
      const std::string word = lower_word(application.substr(later.begin, later.end - later.begin));
      if (word == ";") break;
      is_plpgsql = word == "plpgsql" || word == "'plpgsql'";
    }
    const std::size_t quote = text.find('$', 1) + 1;
    if (!is_plpgsql || quote == 0 || text.size() < 2 * quote) continue;
    out += application.substr(copied, token.begin + quote - copied);
    out += gated_body(std::string(text.substr(quote, text.size() - 2 * quote)), schema);
    copied = token.end - quote;
  }
  out += application.substr(copied);
  return out;
}

std::string gate_function(const std::string& schema) {
  return fmt::format(R"(CREATE FUNCTION {}.isoscope_gate() RETURNS void LANGUAGE plpgsql AS $gate$
DECLARE
  n int := coalesce(nullif(current_setting('isoscope.gate', true), ''), '0')::int;
  c int := coalesce(nullif(current_setting('isoscope.actor', true), ''), '0')::int;
BEGIN
  PERFORM pg_catalog.set_config('isoscope.gate', (n + 1)::text, false);
  IF c > 0 THEN PERFORM pg_catalog.pg_advisory_xact_lock(c, n); END IF;
END
$gate$)",
                     schema);
}

}  // namespace isoscope::force
