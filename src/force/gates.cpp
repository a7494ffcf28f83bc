#include "force/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "sql/pg_parse.h"
#include "sql/source_text.h"
#include "support/shorten.h"

namespace isoscope::force {
namespace {

// Finds where the statements of a body begin that run SQL.
class GateFinder {
 public:
  explicit GateFinder(const std::vector<BodyWord>& words) {
    for (const BodyWord& word : words) words_.push_back(word.text);
  }

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
    std::size_t copied = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i <= words_.size(); ++i) {
      if (i < words_.size() && words_[i].text != ";") continue;
      write_statement(first, i, copied);
      first = i + 1;
    }
    out_.sql += application_.substr(copied);
    spread_gaps();
    return std::move(out_);
  }

 private:
  // Words [first, end) are a statement of the application.
  void write_statement(std::size_t first, std::size_t end, std::size_t& copied) {
    if (first == end) return;
    const std::size_t begin = words_[first].begin;
    const std::string_view text = application_.substr(begin, words_[end - 1].end - begin);
    std::optional<GatedFunction> function;
    if (words_[first].text == "create") function = read_function(text);
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
    const auto body = std::find_if(
        words_.begin() + static_cast<std::ptrdiff_t>(first),
        words_.begin() + static_cast<std::ptrdiff_t>(end),
        [](const BodyWord& word) { return word.text.starts_with('$') && word.text.size() > 3; });
    const std::size_t quote =
        body < words_.begin() + static_cast<std::ptrdiff_t>(end) ? body->text.find('$', 1) + 1 : 0;
    if (quote == 0 || body->text.size() < 2 * quote) {
      gap = "its body is not in dollar quotes";
      return;
    }
    if (!function->is_plpgsql) return;
    out_.sql += application_.substr(copied, body->begin + quote - copied);
    out_.sql += gated_body(*function, body->begin + quote, body->end - quote, gap);
    copied = body->end - quote;
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
    for (const std::size_t first : GateFinder(words).find()) {
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
    gap = gap_of_body(words, recorded);
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

  std::string_view application_;
  const std::string& schema_;
  Gates gates_;
  sql::LineIndex lines_;
  std::vector<BodyWord> words_;
  std::set<std::string> elsewhere_;  // words outside of functions
  std::vector<GatedFunction> functions_;
  GatedApplication out_;
};

}  // namespace

Result<GatedApplication> with_gates(std::string_view application, const std::string& schema,
                                    Gates gates) {
  return GateWriter(application, schema, gates).write();
}

std::string gate_functions(const std::string& schema) {
  constexpr const char* kFunctions = R"(
CREATE SEQUENCE @.isoscope_execution;
CREATE FUNCTION @.isoscope_value(v anyelement) RETURNS text LANGUAGE sql STABLE AS $gate$
SELECT CASE
  WHEN v IS NOT NULL AND pg_catalog.pg_typeof(v) IN
    ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype)
    THEN CASE WHEN v::text LIKE '-%' THEN '(' || v::text || ')' ELSE v::text END
  ELSE pg_catalog.quote_nullable(v::text) || '::' ||
    CASE pg_catalog.pg_typeof(v)::text WHEN 'character' THEN 'bpchar' WHEN 'bit' THEN 'varbit'
      ELSE pg_catalog.pg_typeof(v)::text END
  END
$gate$;
CREATE FUNCTION @.isoscope_gate(statement int, vals text[]) RETURNS boolean
LANGUAGE plpgsql AS $gate$
DECLARE
  n int := coalesce(nullif(current_setting('isoscope.gate', true), ''), '0')::int;
  c int := coalesce(nullif(current_setting('isoscope.actor', true), ''), '0')::int;
  x bigint;
BEGIN
  PERFORM pg_catalog.set_config('isoscope.gate', (n + 1)::text, false);
  IF c > 0 THEN PERFORM pg_catalog.pg_advisory_xact_lock(c, n); END IF;
  x := pg_catalog.nextval('@.isoscope_execution');
  PERFORM pg_catalog.set_config('isoscope.execution', x::text, false);
  RAISE INFO '%', 'isoscope gate ' || pg_catalog.json_build_array(statement, n, x,
    (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint,
    pg_catalog.to_json(vals))::text;
  RETURN true;
END
$gate$;
CREATE FUNCTION @.isoscope_done(statement int, n bigint) RETURNS boolean
LANGUAGE plpgsql AS $gate$
BEGIN
  RAISE INFO '%', 'isoscope rows ' || pg_catalog.json_build_array(statement, n,
    (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint)::text;
  RETURN true;
END
$gate$;
)";
  std::string text = kFunctions;
  for (std::size_t i = 0; (i = text.find('@', i)) != std::string::npos; i += schema.size())
    text.replace(i, 1, schema);
  return text;
}

std::vector<GateNotice> read_notices(const std::vector<std::string>& notices) {
  using nlohmann::json;
  std::vector<GateNotice> read;
  for (const std::string& notice : notices) {
    const bool is_gate = notice.starts_with(kGateNotice);
    if (!is_gate && !notice.starts_with(kRowsNotice)) continue;
    const json told =
        json::parse(notice.substr(kGateNotice.size()), nullptr, /*allow_exceptions=*/false);
    if (!told.is_array() || told.size() < 3) continue;
    if (!is_gate) {
      // The statements of functions that it calls have told theirs in between.
      const auto open = std::find_if(read.rbegin(), read.rend(), [&](const GateNotice& one) {
        return !one.rows && one.statement == told[0];
      });
      if (open == read.rend()) continue;
      open->rows = told[1].get<std::uint64_t>();
      open->end = told[2].get<std::int64_t>();
      continue;
    }
    GateNotice one{.statement = told[0].get<std::size_t>(),
                   .turn = told[1].get<std::size_t>(),
                   .execution = told[2].get<std::uint64_t>(),
                   .time = told[3].get<std::int64_t>(),
                   .values = {}};
    for (const json& value : told[4]) one.values.push_back(value.get<std::string>());
    read.push_back(std::move(one));
  }
  return read;
}

}  // namespace isoscope::force
