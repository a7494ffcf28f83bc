#include "sql/read/function_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sql/names_in_text.h"
#include "sql/read/patched_text.h"
#include "sql/read/pg_parse.h"
#include "sql/read/plpgsql_builder.h"
#include "sql/read/signature.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

// The string of AS in the file, as a token.
std::optional<SqlToken> body_token(const SourceFile& file, std::size_t as) {
  const auto first = std::ranges::lower_bound(file.tokens, as, {}, &SqlToken::begin);
  for (auto token = first; token != file.tokens.end() && token - first < 8; ++token) {
    const std::string_view word = file.text.substr(token->begin, token->end - token->begin);
    if (is_comment(word)) continue;
    if (word.starts_with('$') || word.find('\'') != std::string_view::npos) return *token;
  }
  return std::nullopt;
}

// What stands in quotes in a message: syntax error at or near "x".
std::string_view quoted_part(std::string_view message) {
  const std::size_t open = message.find('"');
  const std::size_t close = message.rfind('"');
  if (open == std::string_view::npos || close <= open) return {};
  return message.substr(open + 1, close - open - 1);
}

bool starts_sql(std::string_view word) {
  for (const std::string_view start : {"select", "insert", "update", "delete", "with"}) {
    if (same_word(word, start)) return true;
  }
  return false;
}

// The PL/pgSQL parser knows little more than the last good line. An SQL statement that is at fault
// fails again when it is parsed alone; otherwise we look for the word that the message quotes.
Place place_of_failure(const BodyText& text, const Error& error) {
  const std::string_view body = text.text();
  for (std::size_t i = 0; i < text.num_tokens(); ++i) {
    if (!starts_sql(text.word(i))) continue;
    const std::uint32_t begin = text.token(i).begin;
    std::size_t last = i;
    while (last + 1 < text.num_tokens() && text.word(last + 1) != ";") ++last;
    const std::string_view sql = body.substr(begin, text.token(last).end - begin);
    i = last;
    const auto tree = parse_sql(sql);
    if (!tree && tree.error().what == error.what)
      return text.locator(begin, 0).place(
          static_cast<std::int64_t>(offset_of(sql, tree.error().where)));
  }
  return text.place_from_line(error.where.line, quoted_part(error.what));
}

// What TG_OP and the like say.
void add_trigger_constants(Function& function, const FiredTrigger& fired, const Catalog& catalog) {
  const auto set = [&](std::string_view name, std::string text) {
    for (std::uint32_t v = 0; v < function.variables.size(); ++v) {
      if (function.variables[v].name != name) continue;
      Assign assign{.target = {v}, .value = make_text(std::move(text), function.place)};
      function.body.insert(function.body.begin(),
                           {.place = function.place, .kind = std::move(assign)});
      return;
    }
  };
  set("tg_op", fired.op == WriteOp::Insert   ? "INSERT"
               : fired.op == WriteOp::Update ? "UPDATE"
                                             : "DELETE");
  set("tg_table_name", catalog.table(fired.table).name);
  set("tg_level", "ROW");
}

// What a function with OUT parameters returns at its end.
void add_outputs(Function& function, const FunctionHead& head, Frame& frame) {
  function.body.push_back(
      {.place = function.place, .kind = Return{.value = outputs_of(head, frame, function.place)}});
}

bool has_jump(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    return s.is<Exit>() || s.is<Continue>() || has_jump(s.body()) || has_jump(s.otherwise());
  });
}

// Can the statement behind them be reached? Where a jump might lead there, yes.
bool may_end(std::span<const Statement> body) {
  return std::ranges::none_of(body, [](const Statement& s) {
    if (s.is<If>()) return !may_end(s.body()) && !may_end(s.otherwise());
    const auto* block = s.find<Block>();
    if (block != nullptr)
      return !has_jump(s.body()) && !may_end(s.body()) &&
             (!block->handler || (!has_jump(s.handler()) && !may_end(s.handler())));
    const auto* loop = s.find<While>();
    if (loop != nullptr) return !loop->condition && !has_jump(loop->body);
    return s.is<Return>() || s.is<Raise>();
  });
}

// A function that owes a value fails where it ends without one.
void add_missing_return(Function& function) {
  if (may_end(function.body))
    function.body.push_back({.place = function.place,
                             .text = "the end of the function, without RETURN",
                             .kind = Raise{.sqlstate = "2F005"}});
}

// With a NULL argument, nothing of it is executed, and its value is NULL.
void make_strict(Function& function, const FunctionHead& head, Frame& frame, Findings& findings) {
  std::vector<Expr> known;
  for (const std::size_t parameter : head.parameters) {
    const NamedVariable& named = frame.named(parameter);
    if (named.is_record) {
      findings.note(function.place, "STRICT is ignored for a row: a call with NULL does something",
                    NoteKind::Gap);
      continue;
    }
    if (named.var.index >= function.num_parameters) continue;
    Expr is_null = make(ExprOp::IsNull, Type::Boolean,
                        {make_variable(frame, named.var, function.place)}, function.place);
    known.push_back(make(ExprOp::Not, Type::Boolean, {std::move(is_null)}, function.place));
  }
  if (known.empty()) return;
  If called{.condition = known.size() == 1
                             ? known.front()
                             : make(ExprOp::And, Type::Boolean, known, function.place),
            .body = std::move(function.body),
            .otherwise = {}};
  if (function.returns && !head.returns_rows) {
    Expr null = make_null(*function.returns, function.place);
    null.is_array = head.returns_array;
    called.otherwise.push_back({.place = function.place, .kind = Return{.value = std::move(null)}});
  }
  function.body.clear();
  function.body.push_back({.place = function.place, .text = "STRICT", .kind = std::move(called)});
}

// A function that is not VOLATILE may neither write nor lock.
void require_only_reads(std::span<const Statement> body, std::string_view volatility,
                        Findings& findings) {
  for (const Statement& statement : body) {
    const bool is_write = statement.write() != nullptr;
    if (is_write || statement.lock() != Lock::None)
      findings.fail(
          statement.place,
          fmt::format("{} is not allowed in a function that is {}",
                      is_write ? "a statement that changes rows" : "FOR UPDATE", volatility),
          "PostgreSQL refuses it whenever the function is called; say VOLATILE");
    require_only_reads(statement.body(), volatility, findings);
    require_only_reads(statement.otherwise(), volatility, findings);
  }
}

std::string volatility_of(const Tree& node) {
  return text_of(child(child(find_option(node, "volatility"), "arg"), "String"), "sval");
}

bool has_one_snapshot(std::string_view volatility) {
  return same_word(volatility, "stable") || same_word(volatility, "immutable");
}

void continue_from_the_first(std::span<Statement> body) {
  for (Statement& statement : body) {
    if (statement.is_separate()) continue;  // a VOLATILE function that it calls
    if (statement.is_sql()) statement.continues = true;
    continue_from_the_first(statement.body());
    continue_from_the_first(statement.otherwise());
  }
}

std::string hint_for(std::string_view message) {
  if (message.find("is not a known variable") != std::string_view::npos)
    return "this field of a record cannot be assigned here; use a variable of its own";
  if (message.starts_with("variable \"$")) return "give the parameter a name";
  return {};
}

// Refuses bodies that are no texts of PL/pgSQL or SQL.
void refuse_body(const Tree& node, const Function& function, const std::string& language,
                 std::size_t num_texts, Findings& findings) {
  if (has(node, "sql_body"))
    findings.fail(function.place,
                  fmt::format("{} has a body in the style BEGIN ATOMIC or RETURN, which is not "
                              "modelled",
                              function.name),
                  "write the body as a string: AS $$ … $$");
  if (!findings.failed() && !same_word(language, "plpgsql") && !same_word(language, "sql"))
    findings.fail(
        function.place,
        fmt::format("{} is in LANGUAGE {}", function.name, language.empty() ? "(none)" : language),
        "plpgsql and sql are modelled");
  if (!findings.failed() && num_texts != 1)
    findings.fail(function.place, fmt::format("{} has no body", function.name));
}

}  // namespace

bool is_in_sql(const Tree& node) {
  return same_word(text_of(child(child(find_option(node, "language"), "arg"), "String"), "sval"),
                   "sql");
}

std::optional<Function> build_function(const Tree& node, std::string_view statement,
                                       std::uint32_t begin, const SourceFile& file,
                                       Catalog& catalog, Findings& findings,
                                       const FiredTrigger* fired) {
  const Locator where{.lines = &file.lines};
  Function function;
  function.name = last_name(child(node, "funcname"));
  function.place = file.lines.place(begin);
  const std::string language =
      text_of(child(child(find_option(node, "language"), "arg"), "String"), "sval");
  const Tree& as = find_option(node, "as");
  const Tree& strings = child(child(child(as, "arg"), "List"), "items");
  refuse_body(node, function, language, strings.size(), findings);
  if (findings.failed()) return std::nullopt;

  const std::string body = string_node(strings[0]);
  const auto location =
      static_cast<std::size_t>(std::max<std::int64_t>(0, number_of(as, "location")));
  const auto token = body_token(file, location);
  std::vector<std::uint32_t> offsets;
  if (token)
    offsets =
        string_offsets(file.text.substr(token->begin, token->end - token->begin), token->begin);
  BodyText text(body, std::move(offsets), file.lines);

  Frame frame(function);
  FunctionHead head;
  head.name = function.name;
  read_signature(node, where, catalog, findings, fired, frame, head);
  if (findings.failed()) return std::nullopt;
  const bool is_sql = same_word(language, "sql");
  frame.positional = positional_parameters(node, head, is_sql);
  if (!is_sql && text.mentions("found"))
    function.found = frame.add("found", Type::Boolean, false, function.place);
  if (!is_sql && text.mentions("row_count"))
    function.row_count = frame.add_hidden("row count", Type::Integer, false, function.place);

  if (is_sql) {
    function.body = build_sql_body(head, body, text, catalog, frame, findings);
  } else {
    if (const auto readable = parse_sql(statement); !readable) {
      findings.fail(function.place, readable.error().what);
      return std::nullopt;
    }
    const auto tree = parse_plpgsql(
        patched_text(statement, begin, text, !head.outputs.empty(), fired != nullptr, head.fields),
        body);
    if (!tree) {
      findings.fail(place_of_failure(text, tree.error()), tree.error().what,
                    hint_for(tree.error().what));
      return std::nullopt;
    }
    function.body = build_plpgsql(head, *tree, text, catalog, frame, findings);
    if (!head.outputs.empty() && !head.returns_rows) add_outputs(function, head, frame);
    // A trigger owes a row or NULL, also one whose value nobody looks at.
    if (head.outputs.empty() && !head.returns_rows && (function.returns || fired != nullptr))
      add_missing_return(function);
  }
  if (!findings.failed() && has_one_snapshot(volatility_of(node)))
    require_only_reads(function.body, volatility_of(node), findings);
  if (findings.failed()) return std::nullopt;
  if (flag_of(child(child(find_option(node, "strict"), "arg"), "Boolean"), "boolval") &&
      fired == nullptr)
    make_strict(function, head, frame, findings);
  if (fired != nullptr) add_trigger_constants(function, *fired, catalog);
  number_statements(function.body, function.num_statements);
  const std::map<std::string, std::size_t> names = names_in(body);
  for (Variable& variable : function.variables) {
    const auto named = names.find(variable.name);
    if (named != names.end()) variable.mentions = named->second;
  }
  return function;
}

void number_statements(std::span<Statement> body, std::uint32_t& next) {
  for (Statement& statement : body) {
    statement.number = next++;
    number_statements(statement.body(), next);
    number_statements(statement.otherwise(), next);
  }
}

void share_snapshot(const Tree& node, Function& function) {
  function.only_reads = has_one_snapshot(volatility_of(node));
  if (function.only_reads) continue_from_the_first(function.body);
}

namespace {

// Notes and the failure of a function are its caller's.
std::shared_ptr<const Function> built_for(const FunctionText& text, const FiredTrigger* fired,
                                          Catalog& catalog, Findings& findings, Place place) {
  const std::string name = last_name(child(*text.node, "funcname"));
  BuiltKey key{.node = text.node};
  if (fired != nullptr) {
    key.table = fired->table;
    key.op = fired->op;
  }
  const auto known = catalog.built.find(key);
  if (known == catalog.built.end()) {
    catalog.built[key] = {};  // being built: a call of it from here is a recursion
    Findings own(name);
    auto function =
        build_function(*text.node, text.text, text.begin, *text.file, catalog, own, fired);
    BuiltFunction& built = catalog.built[key];
    built.is_done = true;
    built.notes = own.notes();
    if (function && !own.failed()) {
      built.function = std::make_shared<const Function>(*std::move(function));
    } else {
      built.why_not = own.error();
    }
  }
  const BuiltFunction& built = catalog.built[key];
  if (!built.is_done) {
    findings.fail(place, fmt::format("{} calls itself, which is not modelled", name));
    return nullptr;
  }
  for (const Note& note : built.notes) findings.note(note.where, note.what, note.kind);
  if (built.function == nullptr)
    findings.fail(place,
                  fmt::format("{} cannot be modelled: line {}: {}", name, built.why_not.where.line,
                              built.why_not.what),
                  built.why_not.hint);
  return built.function;
}

}  // namespace

std::shared_ptr<const Function> build_called(const FunctionText& text, Catalog& catalog,
                                             Findings& findings, Place place) {
  return built_for(text, nullptr, catalog, findings, place);
}

std::shared_ptr<const Function> build_trigger(const FunctionText& text, TableId table, WriteOp op,
                                              Catalog& catalog, Findings& findings, Place place) {
  const FiredTrigger fired{table, op};
  return built_for(text, &fired, catalog, findings, place);
}

}  // namespace isoscope::sql
