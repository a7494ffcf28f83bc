#include "sql/read/script_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <span>

#include "sql/read/function_builder.h"
#include "sql/read/plpgsql_builder.h"
#include "sql/read/query_parts.h"

namespace isoscope::sql {
namespace {

std::uint32_t largest_parameter(const Tree& node) {
  std::uint32_t largest = 0;
  if (node.is_array()) {
    for (const Tree& each : node) largest = std::max(largest, largest_parameter(each));
  } else if (node.is_object()) {
    const Tree& parameter = child(node, "ParamRef");
    if (!parameter.is_null())
      largest = static_cast<std::uint32_t>(
          std::clamp<std::int64_t>(number_of(parameter, "number"), 0, 1000));
    for (const auto& [key, value] : node.items())
      largest = std::max(largest, largest_parameter(value));
  }
  return largest;
}

class ScriptBuilder {
 public:
  ScriptBuilder(const Script& script, const SourceFile& file, Catalog& catalog, Findings& findings)
      : script_(script), file_(file), catalog_(catalog), findings_(findings), frame_(function_) {}

  std::optional<Function> run(const std::vector<NamedParameter>& parameters) {
    function_.name = script_.name;
    function_.level = script_.level;
    function_.place = file_.lines.place(script_.begin);
    frame_.open_block(script_.name);
    add_parameters(parameters);
    for (const ScriptStatement& statement : script_.statements) {
      if (findings_.failed()) return std::nullopt;
      add(statement);
    }
    if (findings_.failed()) return std::nullopt;
    number_statements(function_.body, function_.num_statements);
    return std::move(function_);
  }

 private:
  using Body = std::vector<Statement>;

  void add_parameters(const std::vector<NamedParameter>& parameters) {
    std::uint32_t count = 0;
    for (const ScriptStatement& statement : script_.statements)
      count = std::max(count, largest_parameter(*statement.node));
    std::map<std::uint32_t, std::string> names;
    for (const NamedParameter& parameter : parameters) {
      if (parameter.offset >= script_.begin && parameter.offset < script_.end)
        names[parameter.number] = parameter.name;
    }
    for (std::uint32_t i = 1; i <= count; ++i) {
      const auto named = names.find(i);
      const std::string name = named == names.end() ? fmt::format("p{}", i) : named->second;
      const VarId var = frame_.add_untyped(name, function_.place);
      frame_.positional.push_back(frame_.add_name(name, var));
    }
    function_.num_parameters = count;
  }

  Statement model_of(const ScriptStatement& statement) const {
    Statement model;
    model.place = file_.lines.place(statement.begin);
    const auto first =
        std::ranges::lower_bound(file_.tokens, statement.begin, {}, &SqlToken::begin);
    auto last = first;
    while (last != file_.tokens.end() && last->begin < statement.end) ++last;
    model.text = one_line(file_.text, std::span(first, last));
    if (model.text.ends_with(';')) model.text.pop_back();
    return model;
  }

  void add(const ScriptStatement& statement) {
    const Statement model = model_of(statement);
    Body before;
    Body made;
    const Scope scope{.catalog = catalog_,
                      .findings = findings_,
                      .frame = &frame_,
                      .where = {.lines = &file_.lines},
                      .before = &before,
                      .text = model.text};
    const std::string& kind = statement.kind;
    const bool is_write = kind == "InsertStmt" || kind == "UpdateStmt" || kind == "DeleteStmt";
    if (kind == "SelectStmt") {
      BuiltQuery built = build_query(scope, *statement.node);
      if (findings_.failed()) return;
      note_result(built.columns);
      made.push_back(make_row_loop(scope, std::move(built), model));
    } else if (is_write && has(*statement.node, "returningList")) {
      NamedRows rows;
      rows.rows = add_row_set(scope, "returned", made, model.place);
      std::vector<ResultColumn> columns;
      add_write_rows(made, scope, kind, *statement.node, rows.rows, columns, model);
      if (findings_.failed()) return;
      note_result(columns);
      rows.columns = source_columns(columns);
      made.push_back(make_row_loop(scope, query_of_rows(rows, model.place), model));
    } else if (is_write) {
      add_write(made, scope, kind, *statement.node, {}, false, model);
    } else {
      findings_.fail(model.place, "this statement is not modelled in a transaction",
                     "SELECT, INSERT, UPDATE and DELETE are");
    }
    make_one_statement(frame_, before, made);
    std::ranges::move(before, std::back_inserter(function_.body));
    std::ranges::move(made, std::back_inserter(function_.body));
  }

  // What the client sees is a result of the transaction, by which runs differ.
  void note_result(const std::vector<ResultColumn>& columns) {
    if (!function_.returns && !columns.empty()) function_.returns = columns.front().type;
  }

  const Script& script_;
  const SourceFile& file_;
  Catalog& catalog_;
  Findings& findings_;
  Function function_;
  Frame frame_;
};

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string with_numbered_parameters(std::string text, std::vector<NamedParameter>& parameters) {
  const auto tokens = scan_sql(text);
  if (!tokens) return text;
  std::map<std::string, std::uint32_t> numbers;
  int brackets = 0;
  bool is_start = true;  // of a statement
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const auto [begin, end] = (*tokens)[i];
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    if (is_comment(word)) continue;
    const bool begins = is_start && (same_word(word, "begin") || same_word(word, "start"));
    if (begins) numbers.clear();
    is_start = word == ";";
    if (word == "[") ++brackets;
    if (word == "]") --brackets;
    if (word != ":" || brackets > 0 || i + 1 == tokens->size() || (*tokens)[i + 1].begin != end)
      continue;
    const std::uint32_t last = (*tokens)[i + 1].end;
    std::string name = text.substr(end, last - end);
    if (name.front() == '\'' || name.front() == '"') name = name.substr(1, name.size() - 2);
    if (name.empty() || !starts_name(name.front())) continue;
    const auto [known, is_new] =
        numbers.try_emplace(name, static_cast<std::uint32_t>(numbers.size() + 1));
    std::string parameter = fmt::format("${}", known->second);
    const std::size_t length = last - begin;
    if (parameter.size() > length) continue;
    parameter.resize(length, ' ');
    parameters.push_back({begin, name, known->second});
    text.replace(begin, length, parameter);
  }
  return text;
}

std::optional<Function> build_script(const Script& script,
                                     const std::vector<NamedParameter>& parameters,
                                     const SourceFile& file, Catalog& catalog, Findings& findings) {
  return ScriptBuilder(script, file, catalog, findings).run(parameters);
}

}  // namespace isoscope::sql
