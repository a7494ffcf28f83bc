#include "sql/read/function_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sql/read/pg_parse.h"
#include "sql/read/plpgsql_builder.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

const Tree& option(const Tree& node, std::string_view name) {
  for (const Tree& entry : child(node, "options")) {
    if (text_of(inside(entry), "defname") == name) return inside(entry);
  }
  return no_tree();
}

bool is_input(const std::string& mode) {
  return mode != "FUNC_PARAM_OUT" && mode != "FUNC_PARAM_TABLE";
}
bool is_output(const std::string& mode) {
  return mode == "FUNC_PARAM_OUT" || mode == "FUNC_PARAM_TABLE" || mode == "FUNC_PARAM_INOUT";
}

class Signature {
 public:
  Signature(const Tree& node, const Locator& where, Catalog& catalog, Findings& findings,
            const FiredTrigger* fired)
      : node_(node), where_(where), catalog_(catalog), findings_(findings), fired_(fired) {}

  // Adds the parameters to the frame, those that a caller gives first, and declares them.
  void declare(Frame& frame, FunctionHead& head) {
    const Tree& parameters = child(node_, "parameters");
    std::vector<std::size_t> numbers(parameters.size());
    for (const bool inputs : {true, false}) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Tree& parameter = inside(parameters[i]);
        if (is_input(text_of(parameter, "mode")) == inputs) numbers[i] = add(frame, parameter, i);
      }
      if (inputs)
        frame.function().num_parameters =
            static_cast<std::uint32_t>(frame.function().variables.size());
    }
    frame.open_block(head.name);
    if (fired_ != nullptr) declare_rows(frame, head);
    head.parameters = numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      frame.declare(numbers[i]);
      if (is_output(text_of(inside(parameters[i]), "mode"))) head.outputs.push_back(numbers[i]);
    }
  }

  void note_settings() {
    for (const Tree& entry : child(node_, "options")) {
      const std::string setting = setting_that_matters(inside(entry));
      if (setting.empty()) continue;
      findings_.note(where_.place(number_of(inside(entry), "location")),
                     fmt::format("SET {} of a function is not modelled", setting), NoteKind::Gap);
    }
  }

  void set_result(Frame& frame, FunctionHead& head) {
    Function& function = frame.function();
    head.is_procedure = flag_of(node_, "is_procedure");
    function.may_end =
        head.is_procedure && option(node_, "set").is_null() &&
        !flag_of(child(child(option(node_, "security"), "arg"), "Boolean"), "boolval");
    const Tree& returns = child(node_, "returnType");
    head.returns_rows = flag_of(returns, "setof");
    if (!head.outputs.empty()) {
      for (const Tree& parameter : child(node_, "parameters"))
        head.returns_rows |= text_of(inside(parameter), "mode") == "FUNC_PARAM_TABLE";
      const Variable& first = frame.variable(frame.named(head.outputs.front()).var);
      function.returns = first.type;
      head.returns_array = first.is_array;
      head.returns_bits = first.width.bits;
      head.returns_record = head.outputs.size() > 1;
      return;
    }
    if (returns.is_null()) return;  // a procedure
    DeclaredType type = catalog_.type_of(returns, where_, findings_);
    type.forget_scale();
    if (type.is_trigger && fired_ == nullptr)
      findings_.fail(where_.place(number_of(returns, "location")), "a trigger is no transaction");
    if (type.is_void || type.is_trigger) return;
    head.returns_record = type.is_record;
    head.returns_array = type.is_array;
    head.returns_bits = type.width.bits;
    function.returns = type.type;
  }

 private:
  // NEW and OLD come first, so that the statement that fires the trigger finds them.
  void declare_rows(Frame& frame, FunctionHead& head) {
    DeclaredType row;
    row.is_record = true;
    row.row_of = fired_->table;
    for (const char* name : {"new", "old"}) {
      const std::size_t number = frame.add_named(name, row, catalog_, {});
      frame.declare(number);
      head.trigger_rows.push_back(number);
    }
    frame.function().num_parameters = static_cast<std::uint32_t>(frame.function().variables.size());
    for (const char* name : {"tg_op", "tg_table_name", "tg_when", "tg_level"})
      frame.declare(frame.add_named(name, {.type = Type::Text}, catalog_, {}));
  }

  std::size_t add(Frame& frame, const Tree& parameter, std::size_t position) {
    const Tree& type_name = child(parameter, "argType");
    const Place place = where_.place(number_of(type_name, "location"));
    DeclaredType type = catalog_.type_of(type_name, where_, findings_);
    type.forget_scale();
    // A row of a table is a parameter for each of its columns; what a record has is not known.
    const bool is_row = type.row_of && !type.is_array;
    if (type.is_record && (!is_row || !is_input(text_of(parameter, "mode")))) {
      findings_.fail(place, "a parameter that is such a row is not modelled",
                     "give its columns one by one");
      type = {};
    }
    std::string name = text_of(parameter, "name");
    if (name.empty()) name = fmt::format("${}", position + 1);
    return frame.add_named(name, type, catalog_, place);
  }

  const Tree& node_;
  const Locator& where_;
  Catalog& catalog_;
  Findings& findings_;
  const FiredTrigger* fired_;
};

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

std::vector<std::size_t> positional_parameters(const Tree& node, const FunctionHead& head,
                                               bool inputs_only) {
  std::vector<std::size_t> positional;
  const Tree& parameters = child(node, "parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!inputs_only || is_input(text_of(inside(parameters[i]), "mode")))
      positional.push_back(head.parameters[i]);
  }
  return positional;
}

// What the PL/pgSQL parser of the library does not take though the server does, it gets in another
// form of the same lines:
//   RETURN NEXT alone           a value to be content with: it does not know of OUT parameters
//   r.f := …, INTO r.f          a variable of ours; which field it is, `fields` says in the order
//   of
//                               the text
//   v ALIAS FOR $1              a variable of its own, which the translation takes for the
//   parameter
class PatchedText {
 public:
  PatchedText(std::string_view statement, std::uint32_t begin, const BodyText& text)
      : patched_(statement), begin_(begin), text_(text) {}

  std::string run(bool has_outputs, bool is_trigger, std::vector<RecordField>& fields) {
    for (std::size_t i = 0; i < text_.num_tokens(); ++i) {
      if (has_outputs && i > 1 && text_.word(i) == ";" && is_word(i - 1, "next") &&
          is_word(i - 2, "return"))
        insert(i, " NULL");
      if (is_word(i, "alias") && is_word(i + 1, "for")) replace(i, i + 2, "integer");
      if (!is_trigger && is_field_target(i)) {
        fields.push_back({lower_case(text_.word(i)), lower_case(text_.word(i + 2))});
        replace(i, i + 2, kFieldVariable);
      }
    }
    if (!fields.empty()) declare();
    std::ranges::sort(edits_, {}, &Edit::at);
    for (auto edit = edits_.rbegin(); edit != edits_.rend(); ++edit)
      patched_.replace(edit->at, edit->length, edit->text);
    return patched_;
  }

 private:
  struct Edit {
    std::size_t at, length;
    std::string text;
  };

  bool is_word(std::size_t i, std::string_view word) const {
    return i < text_.num_tokens() && same_word(text_.word(i), word);
  }
  bool is_one_of(std::size_t i, std::initializer_list<std::string_view> words) const {
    return std::ranges::any_of(words, [&](std::string_view word) { return is_word(i, word); });
  }
  // CASE … THEN a.b = c … END in an expression: its END comes before the statement ends.
  bool is_in_case(std::size_t i) const {
    int open = 0;
    for (; i < text_.num_tokens() && text_.word(i) != ";"; ++i) {
      if (is_word(i, "case")) ++open;
      if (is_word(i, "end") && --open < 0) return true;
    }
    return false;
  }
  // name . name, where a statement begins and is an assignment, or among the targets of INTO.
  bool is_field_target(std::size_t i) const {
    if (i == 0 || i + 3 >= text_.num_tokens() || text_.word(i + 1) != ".") return false;
    const char first = text_.word(i).front();
    if (std::isalpha(static_cast<unsigned char>(first)) == 0 && first != '_') return false;
    if (is_one_of(i - 1, {";", "begin", "then", "else", "loop"}))
      return (text_.word(i + 3) == ":=" || text_.word(i + 3) == "=") && !is_in_case(i);
    std::size_t back = i - 1;
    while (back >= 4 && text_.word(back) == "," && text_.word(back - 2) == ".") back -= 4;
    while (back >= 2 && text_.word(back) == ",") back -= 2;
    if (is_word(back, "strict")) --back;
    return is_word(back, "into") && back > 0 && !is_word(back - 1, "insert");
  }

  std::size_t offset(std::size_t token) const { return text_.file_offset(token) - begin_; }
  void insert(std::size_t token, std::string text) {
    if (text_.file_offset(token) >= begin_ && offset(token) <= patched_.size())
      edits_.push_back({offset(token), 0, std::move(text)});
  }
  // Tokens first to last, with the line breaks between them kept.
  void replace(std::size_t first, std::size_t last, std::string_view text) {
    if (text_.file_offset(first) < begin_ || last >= text_.num_tokens()) return;
    const std::size_t at = offset(first);
    const std::size_t end = offset(last) + text_.word(last).size();
    if (end > patched_.size() || end < at) return;
    std::string with(text);
    for (std::size_t i = at; i < end; ++i) {
      if (patched_[i] == '\n') with += '\n';
    }
    edits_.push_back({at, end - at, std::move(with)});
  }
  void declare() {
    const std::string declaration = fmt::format("{} integer; ", kFieldVariable);
    std::size_t i = 0;
    while (i < text_.num_tokens() && !is_one_of(i, {"declare", "begin"})) ++i;
    if (is_word(i, "declare")) {
      insert(i + 1, declaration);
    } else {
      insert(i, "DECLARE " + declaration);
    }
  }

  std::string patched_;
  std::uint32_t begin_;
  const BodyText& text_;
  std::vector<Edit> edits_;
};

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
  return text_of(child(child(option(node, "volatility"), "arg"), "String"), "sval");
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

std::string setting_that_matters(const Tree& option) {
  constexpr std::string_view kHarmless[] = {"search_path", "client_min_messages", "work_mem",
                                            "application_name", "timezone"};
  if (text_of(option, "defname") != "set") return {};
  std::string name = text_of(child(child(option, "arg"), "VariableSetStmt"), "name");
  if (std::ranges::find(kHarmless, name) != std::end(kHarmless)) return {};
  return name.starts_with("enable_") ? std::string{} : name;
}

bool is_in_sql(const Tree& node) {
  return same_word(text_of(child(child(option(node, "language"), "arg"), "String"), "sval"), "sql");
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
      text_of(child(child(option(node, "language"), "arg"), "String"), "sval");
  const Tree& as = option(node, "as");
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
  Signature signature(node, where, catalog, findings, fired);
  signature.declare(frame, head);
  signature.set_result(frame, head);
  signature.note_settings();
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
    const auto tree = parse_plpgsql(PatchedText(statement, begin, text)
                                        .run(!head.outputs.empty(), fired != nullptr, head.fields),
                                    body);
    if (!tree) {
      findings.fail(place_of_failure(text, tree.error()), tree.error().what,
                    hint_for(tree.error().what));
      return std::nullopt;
    }
    function.body = build_plpgsql(head, *tree, text, catalog, frame, findings);
    if (!head.outputs.empty() && !head.returns_rows) add_outputs(function, head, frame);
    if (head.outputs.empty() && !head.returns_rows && function.returns)
      add_missing_return(function);
  }
  if (!findings.failed() && has_one_snapshot(volatility_of(node)))
    require_only_reads(function.body, volatility_of(node), findings);
  if (findings.failed()) return std::nullopt;
  if (flag_of(child(child(option(node, "strict"), "arg"), "Boolean"), "boolval") &&
      fired == nullptr)
    make_strict(function, head, frame, findings);
  if (fired != nullptr) add_trigger_constants(function, *fired, catalog);
  number_statements(function.body, function.num_statements);
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
    key.table = fired->table.index + 1;
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
