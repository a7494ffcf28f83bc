#include "force/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "sql/read/pg_parse.h"
#include "sql/read/source_text.h"
#include "support/shorten.h"

namespace isoscope::force {
namespace {

// Finds where the statements of a body begin that run SQL.
class GateFinder {
 public:
  // `silent`: functions that have no gates, so that a call of one is a step like a statement.
  GateFinder(const std::vector<BodyWord>& words, const std::set<std::string>& silent)
      : silent_(silent) {
    for (const BodyWord& word : words) words_.push_back(word.text);
  }

  // What has no gate. Requires: find() was called.
  const Ungated& ungated() const { return ungated_; }

  // The tokens before which a gate goes.
  std::vector<std::size_t> find() {
    std::vector<std::size_t> gates;
    bool is_start = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (in_declarations_) {
        if (looks_up(i)) leave_out("a declaration", i);
        if (word == "begin") in_declarations_ = false, is_start = true;
        continue;
      }
      if (word == "declare") {
        in_declarations_ = true;
        continue;
      }
      if (is_start && runs_sql(i)) gates.push_back(i);
      if (is_start && is_condition(word)) look_at_condition(i);
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
  // Does this word look rows up inside of an expression?
  bool looks_up(std::size_t i) const { return words_[i] == "select" || is_silent_call(i); }
  bool is_silent_call(std::size_t i) const {
    return i + 1 < words_.size() && words_[i + 1] == "(" && silent_.contains(words_[i]);
  }
  // A condition that is looked at without a statement of its own: after ELSIF, in the branches of
  // CASE, and each time a WHILE loop begins anew.
  static bool is_condition(const std::string& word) {
    return word == "elsif" || word == "elseif" || word == "when" || word == "while";
  }
  // The words of a statement up to its end or the body it controls.
  std::size_t end_of_head(std::size_t begin) const {
    int cases = 0;
    for (std::size_t i = begin; i < words_.size(); ++i) {
      if (words_[i] == "case" && i > begin) ++cases;
      if (words_[i] == "end" && cases > 0) --cases;
      if (words_[i] == ";" || words_[i] == "loop" || (words_[i] == "then" && cases == 0)) return i;
    }
    return words_.size();
  }

  // Does the statement from this token on, up to its end or the body it controls, run SQL?
  bool runs_sql(std::size_t begin) const {
    static constexpr std::array kStatements = {
        "select", "insert", "update",   "delete", "perform", "with",   "execute", "merge",
        "lock",   "call",   "truncate", "copy",   "open",    "create", "drop",    "alter"};
    if (std::ranges::find(kStatements, words_[begin]) != kStatements.end()) return true;
    // What an expression or a loop looks up is SQL too. A condition after ELSIF cannot have a gate.
    if (words_[begin] == "elsif" || words_[begin] == "elseif" || words_[begin] == "when")
      return false;
    for (std::size_t i = begin; i < end_of_head(begin); ++i)
      if (looks_up(i)) return true;
    return false;
  }

  void look_at_condition(std::size_t begin) {
    const std::string what = words_[begin] == "while"  ? "the condition of a WHILE loop"
                             : words_[begin] == "when" ? "a condition after WHEN"
                                                       : "a condition after ELSIF";
    for (std::size_t i = begin; i < end_of_head(begin); ++i)
      if (looks_up(i)) leave_out(what, i);
  }
  void leave_out(const std::string& what, std::size_t word) {
    const bool only_reads = !is_silent_call(word);
    if (!ungated_.why.empty() && (ungated_.only_reads <= only_reads)) return;
    ungated_ = {.why = what + " runs together with the statement before it",
                .only_reads = only_reads};
  }

  const std::set<std::string>& silent_;
  std::vector<std::string> words_;
  bool in_declarations_ = false;
  int cases_ = 0;  // CASE expressions that are open
  Ungated ungated_;
};

// The text of a statement for people, from a word on to the end of the statement or of its
// condition.
std::string shown_from(std::string_view body, const std::vector<BodyWord>& words,
                       std::size_t first) {
  std::string shown;
  std::size_t last = first;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word == ";" || word == "loop" || (word == "then" && words[first].text == "if")) break;
    if (i > first && words[last].end < words[i].begin) shown += ' ';
    shown += body.substr(words[i].begin, words[i].end - words[i].begin);
    last = i;
  }
  constexpr std::size_t kLongest = 1'000;
  return shortened(shown, kLongest);
}

// A function of the application that has a body in dollar quotes.
struct GatedFunction {
  std::string name;
  std::set<std::string> parameters = {};
  bool is_plpgsql = false;
  std::set<std::string> calls = {};  // words of its body that are followed by "("
};

// Puts gates into the functions of an application, one after the other.
class GateWriter {
 public:
  GateWriter(std::string_view application, const std::string& schema, Gates gates)
      : application_(application), schema_(schema), gates_(gates), lines_(application) {}

  Result<GatedApplication> write() {
    auto tokens = sql::scan_sql(application_);
    if (!tokens) return tokens.error();
    words_ = words_of_body(application_);
    find_actions();
    for_each_statement([this](std::size_t first, std::size_t end) { find_silent(first, end); });
    std::size_t copied = 0;
    for_each_statement(
        [&](std::size_t first, std::size_t end) { write_statement(first, end, copied); });
    out_.sql += application_.substr(copied);
    spread_gaps();
    spread_ungated();
    return std::move(out_);
  }

 private:
  // ON DELETE and ON UPDATE of foreign keys: statements that run with the one that causes them.
  void find_actions() {
    for (std::size_t i = 0; i + 2 < words_.size(); ++i) {
      const std::string& action = words_[i + 2].text;
      if (words_[i].text == "on" && (action == "cascade" || action == "set"))
        actions_.insert(words_[i + 1].text);
    }
  }
  Ungated without_actions(const std::vector<BodyWord>& words, Ungated known) const {
    const bool has_action = std::ranges::any_of(
        words, [&](const BodyWord& word) { return actions_.contains(word.text); });
    if (!has_action || (!known.why.empty() && !known.only_reads)) return known;
    return {
        .why = "what a foreign key does ON DELETE or ON UPDATE runs together with the statement",
        .only_reads = false};
  }

  // Calls `use` with the words [first, end) of each statement of the application.
  template <typename Use>
  void for_each_statement(const Use& use) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i <= words_.size(); ++i) {
      if (i < words_.size() && words_[i].text != ";") continue;
      if (first < i) use(first, i);
      first = i + 1;
    }
  }
  std::string_view text_of(std::size_t first, std::size_t end) const {
    return application_.substr(words_[first].begin, words_[end - 1].end - words_[first].begin);
  }
  // The body in dollar quotes among these words: where its text begins and ends. Nothing if there
  // is none.
  std::optional<std::pair<std::size_t, std::size_t>> body_of(std::size_t first,
                                                             std::size_t end) const {
    for (std::size_t i = first; i < end; ++i) {
      const BodyWord& word = words_[i];
      if (!word.text.starts_with('$') || word.text.size() <= 3) continue;
      const std::size_t quote = word.text.find('$', 1) + 1;
      if (quote == 0 || word.text.size() < 2 * quote) return std::nullopt;
      return std::pair{word.begin + quote, word.end - quote};
    }
    return std::nullopt;
  }

  // Functions that will have no gates, and what of them cannot be interrupted.
  void find_silent(std::size_t first, std::size_t end) {
    if (words_[first].text != "create") return;
    const auto function = read_function(text_of(first, end));
    if (!function) return;
    Ungated& ungated = out_.ungated[function->name];
    const auto body = body_of(first, end);
    if (function->is_plpgsql && body) return;
    silent_.insert(function->name);
    const auto inner =
        body ? sql::parse_sql(application_.substr(body->first, body->second - body->first))
             : Result<sql::Tree>(Error{});
    // A single statement is one step wherever it is called.
    if (function->is_plpgsql || !inner || inner->size() > 1)
      ungated = {.why = function->is_plpgsql ? "its body is not in dollar quotes"
                                             : "it is not in PL/pgSQL"};
  }

  // Words [first, end) are a statement of the application.
  void write_statement(std::size_t first, std::size_t end, std::size_t& copied) {
    std::optional<GatedFunction> function;
    if (words_[first].text == "create") function = read_function(text_of(first, end));
    if (!function) {
      static const std::set<std::string> kHarmless = {"grant", "revoke", "comment", "drop",
                                                      "alter"};
      for (std::size_t i = first; i < end && !kHarmless.contains(words_[first].text); ++i)
        elsewhere_.insert(words_[i].text);
      return;
    }
    functions_.push_back(*function);
    std::string& gap = out_.gaps[function->name];
    if (!function->is_plpgsql) gap = "it is not in PL/pgSQL";
    const auto body = body_of(first, end);
    if (!body) {
      gap = "its body is not in dollar quotes";
      return;
    }
    if (!function->is_plpgsql) return;
    out_.sql += application_.substr(copied, body->first - copied);
    out_.sql += gated_body(*function, body->first, body->second, gap);
    copied = body->second;
  }

  static std::optional<GatedFunction> read_function(std::string_view text) {
    const auto tree = sql::parse_sql(text);
    if (!tree || tree->size() != 1) return std::nullopt;
    const sql::Tree& node = sql::child(sql::child((*tree)[0], "stmt"), "CreateFunctionStmt");
    if (node.is_null()) return std::nullopt;
    GatedFunction function{.name = sql::last_name(sql::child(node, "funcname"))};
    for (const sql::Tree& entry : sql::child(node, "parameters"))
      function.parameters.insert(sql::text_of(sql::inside(entry), "name"));
    function.parameters.erase("");
    for (const sql::Tree& entry : sql::child(node, "options")) {
      const sql::Tree& option = sql::inside(entry);
      if (sql::text_of(option, "defname") == "language")
        function.is_plpgsql = sql::string_node(sql::child(option, "arg")) == "plpgsql";
    }
    return function;
  }

  std::string gated_body(const GatedFunction& function, std::size_t begin, std::size_t end,
                         std::string& gap) {
    const std::string_view body = application_.substr(begin, end - begin);
    const std::vector<BodyWord> words = words_of_body(body);
    FunctionNames names{.name = function.name, .variables = declared_variables(words)};
    names.variables.insert(function.parameters.begin(), function.parameters.end());
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i + 1].text == "(") functions_.back().calls.insert(words[i].text);
    std::string text;
    std::size_t copied = 0;
    std::vector<RecordableStatement> recorded;
    GateFinder finder(words, silent_);
    for (const std::size_t first : finder.find()) {
      std::optional<RecordableStatement> made;
      if (gates_ == Gates::Record) made = recordable(body, words, first, names);
      InnerStatement statement = made ? made->statement : InnerStatement{.function = names.name};
      statement.shown = shown_from(body, words, first);
      statement.line = lines_.place(begin + words[first].begin).line;
      text += body.substr(copied, words[first].begin - copied);
      text += gate_before(statement);
      copied = words[first].begin;
      if (made) {
        text += body.substr(copied, made->begin - copied);
        text += made->replacement;
        if (statement.tells_rows) text += gate_behind();
        copied = made->end;
        recorded.push_back(std::move(*made));
      }
      out_.statements.push_back(std::move(statement));
    }
    // Functions of one name and other arguments share both: what one of them says is kept.
    if (std::string own = gap_of_body(words, recorded); !own.empty()) gap = std::move(own);
    Ungated& known = out_.ungated[function.name];
    const Ungated own = without_actions(words, finder.ungated());
    if (known.why.empty() || (known.only_reads && !own.why.empty())) known = own;
    return text + std::string(body.substr(copied));
  }

  std::string gate_before(const InnerStatement& statement) const {
    std::string values;
    for (const std::string& variable : statement.variables)
      values +=
          fmt::format("{}{}.isoscope_value({})", values.empty() ? "" : ", ", schema_, variable);
    return fmt::format("IF {}.isoscope_gate({}, ARRAY[{}]::text[]) THEN NULL; END IF; ", schema_,
                       out_.statements.size(), values);
  }

  // Behind a statement: it tells how many rows that had. Neither FOUND nor ROW_COUNT change by it,
  // since no statement is run.
  std::string gate_behind() const {
    return fmt::format(
        " DECLARE isoscope_rows bigint; BEGIN GET DIAGNOSTICS isoscope_rows = ROW_COUNT; "
        "IF {}.isoscope_done({}, isoscope_rows) THEN NULL; END IF; END;",
        schema_, out_.statements.size());
  }

  // Who calls a function with a gap has it too; and a function that the schema itself may call (in
  // a default, a view, a trigger) runs unseen.
  void spread_gaps() {
    for (const GatedFunction& function : functions_)
      if (elsewhere_.contains(function.name))
        for (auto& [name, gap] : out_.gaps)
          if (gap.empty()) gap = fmt::format("the schema may call {} by itself", function.name);
    for (bool is_changing = true; is_changing;) {
      is_changing = false;
      for (const GatedFunction& function : functions_) {
        std::string& gap = out_.gaps[function.name];
        for (const GatedFunction& called : functions_) {
          if (!gap.empty() || called.name == function.name) continue;
          const std::string& inner = out_.gaps[called.name];
          if (inner.empty() || !function.calls.contains(called.name)) continue;
          gap = fmt::format("it calls {}: {}", called.name, inner);
          is_changing = true;
        }
      }
    }
  }

  // Who calls a function of which something has no gate has that too; and what the schema itself
  // may call (a trigger) runs with any statement.
  void spread_ungated() {
    const auto take = [this](const std::string& name, const std::string& other) {
      Ungated& own = out_.ungated[name];
      const Ungated& inner = out_.ungated[other];
      if (name == other || inner.why.empty()) return false;
      if (!own.why.empty() && own.only_reads <= inner.only_reads) return false;
      own = {.why = fmt::format("it may call {}: {}", other, inner.why),
             .only_reads = inner.only_reads};
      return true;
    };
    for (bool is_changing = true; is_changing;) {
      is_changing = false;
      for (const GatedFunction& function : functions_)
        for (const GatedFunction& called : functions_)
          if (function.calls.contains(called.name) || elsewhere_.contains(called.name))
            is_changing |= take(function.name, called.name);
    }
  }

  std::string_view application_;
  const std::string& schema_;
  Gates gates_;
  sql::LineIndex lines_;
  std::vector<BodyWord> words_;
  std::set<std::string> elsewhere_;  // words outside of functions
  std::set<std::string> silent_;     // functions without gates
  std::set<std::string> actions_;    // "delete", "update": foreign keys do something then
  std::vector<GatedFunction> functions_;
  GatedApplication out_;
};

}  // namespace

Result<GatedApplication> with_gates(std::string_view application, const std::string& schema,
                                    Gates gates) {
  return GateWriter(application, schema, gates).write();
}

}  // namespace isoscope::force
