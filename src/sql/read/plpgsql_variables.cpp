// Variables and expressions of PL/pgSQL.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/inliner.h"
#include "sql/read/pg_parse.h"
#include "sql/read/plpgsql_body.h"
#include "sql/read/whole_queries.h"
#include "sql/sqlstates.h"
#include "support/spelling.h"

namespace isoscope::sql {

std::uint32_t line_of(const Tree& node) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(number_of(node, "lineno"), 0, std::int64_t{1} << 30));
}

std::string query_of(const Tree& expr) { return text_of(child(expr, "PLpgSQL_expr"), "query"); }

bool is_bare(const Tree& select) {
  constexpr const char* kClauses[] = {"fromClause", "whereClause", "groupClause", "havingClause",
                                      "sortClause", "limitCount",  "limitOffset", "distinctClause"};
  return std::ranges::none_of(kClauses, [&](const char* clause) { return has(select, clause); });
}

PlpgsqlBody::PlpgsqlBody(const FunctionHead& head, const Tree& datums, BodyText& text,
                         Catalog& catalog, Frame& frame, Findings& findings)
    : head_(head),
      datums_(datums),
      text_(text),
      catalog_(catalog),
      frame_(frame),
      findings_(findings) {
  // The parameters that have names are the first datums; FOUND comes behind them.
  for (const std::size_t parameter : head.parameters) {
    if (!frame.named(parameter).name.starts_with('$')) named_[next_datum_++] = parameter;
  }
  ++next_datum_;
  // NEW and OLD of a trigger are the two behind it.
  for (const std::size_t row : head.trigger_rows) named_[next_datum_++] = row;
  // The tree says nothing of `#variable_conflict`.
  for (std::size_t i = 0; i + 1 < text.num_tokens(); ++i) {
    if (!same_word(text.word(i), "variable_conflict")) continue;
    if (same_word(text.word(i + 1), "use_column")) names_may_clash_ = false;
    if (same_word(text.word(i + 1), "use_variable"))
      findings.fail(text.place_of_token(i), "#variable_conflict use_variable is not modelled",
                    "write the table before the column");
  }
  // Nor of `name ALIAS FOR $1`.
  for (std::size_t i = 0; i + 3 < text.num_tokens(); ++i) {
    if (!same_word(text.word(i + 1), "alias") || !same_word(text.word(i + 2), "for")) continue;
    for (std::size_t k = 0; k < head.parameters.size(); ++k) {
      const std::string& name = frame.named(head.parameters[k]).name;
      if (text.word(i + 3) == fmt::format("${}", k + 1) || same_word(text.word(i + 3), name))
        aliases_[lower_case(text.word(i))] = head.parameters[k];
    }
  }
}

namespace {

// Where a line declares variables: before its first BEGIN; at once behind a BEGIN, so that nothing
// happens between the two blocks; or somewhere else in a block.
enum class Declares : std::uint8_t { Before, AtOnce, Later };
Declares declarations_of(const BodyText& text, std::uint32_t line) {
  const std::uint32_t in_file = text.place_of_line(line).line;
  Declares answer = Declares::Before;
  bool has_begun = false;
  for (std::size_t i = 0; i < text.num_tokens(); ++i) {
    if (text.place_of_token(i).line != in_file) continue;
    if (has_begun && same_word(text.word(i), "declare")) {
      if (!same_word(text.word(i - 1), "begin")) return Declares::Later;
      answer = Declares::AtOnce;
    }
    has_begun = has_begun || same_word(text.word(i), "begin");
  }
  return answer;
}

}  // namespace

void PlpgsqlBody::add_block(Body& to, const Tree& node) {
  frame_.open_block(text_of(node, "label"));
  // The tree does not say which block declares a variable. Variables are numbered in the order of
  // the text, so those up to the line of BEGIN that no block has yet are ours. Types that the
  // parser does not know are those of loops and the like.
  const std::uint32_t begin = line_of(node);
  std::optional<Declares> on_line;
  for (; next_datum_ < datums_.size(); ++next_datum_) {
    // RECORD in capital letters has a node of its own.
    const Tree& record = child(datums_[next_datum_], "PLpgSQL_rec");
    const Tree& variable = record.is_null() ? child(datums_[next_datum_], "PLpgSQL_var") : record;
    if (variable.is_null() || named_.contains(next_datum_)) continue;
    if (line_of(variable) > begin) break;
    if (line_of(variable) == begin) {
      if (!on_line) on_line = declarations_of(text_, begin);
      // What an inner block declares at once may as well be declared here, if it hides nothing and
      // nothing is caught.
      const bool may_be_ours = *on_line == Declares::Before ||
                               (*on_line == Declares::AtOnce && !has(node, "exceptions") &&
                                frame_.find(text_of(variable, "refname")) == nullptr);
      if (!may_be_ours) {
        findings_.fail(text_.place_of_line(begin),
                       "which block this line declares its variables in is not understood",
                       "write the DECLARE of the inner block on a line of its own");
        break;
      }
    }
    if (!record.is_null()) {
      DeclaredType type;
      type.is_record = true;
      const std::string name = text_of(record, "refname");
      named_[next_datum_] = frame_.add_named(name, type, catalog_, start(record, name).place);
      frame_.declare(named_[next_datum_]);
      continue;
    }
    const Tree& type = child(child(variable, "datatype"), "PLpgSQL_type");
    if (text_of(type, "typname") != "UNKNOWN") add_declaration(to, next_datum_, variable);
  }
  // Around a body with EXCEPTION the parser puts a block of its own, which has no line and no
  // BEGIN.
  const Place place = begin == 0 ? text_.place_of_line(1) : start(node, "BEGIN").place;
  const std::string label = text_of(node, "label");
  if (has(node, "exceptions")) {
    add_guarded(to, node, place);
  } else if (!label.empty()) {
    Block labelled;
    loops_.push_back({label, true});
    add_all(labelled.body, child(node, "body"));
    loops_.pop_back();
    to.push_back({.place = place, .kind = std::move(labelled)});
  } else {
    add_all(to, child(node, "body"));
  }
  frame_.close_block();
}

// BEGIN … EXCEPTION: the handlers are a chain of IF over SQLSTATE; what none of them takes is
// raised again.
void PlpgsqlBody::add_guarded(Body& to, const Tree& node, Place place) {
  Block block;
  Handler handler;
  loops_.push_back({text_of(node, "label"), true});
  add_all(block.body, child(node, "body"));
  frame_.open_block("");
  const char* const names[] = {"sqlstate", "sqlerrm"};
  for (std::size_t i = 0; i < handler.targets.size(); ++i) {
    const std::size_t number = frame_.add_named(names[i], {.type = Type::Text}, catalog_, place);
    frame_.declare(number);
    handler.targets[i] = frame_.named(number).var;
    Variable& variable = frame_.function().variables[handler.targets[i].index];
    variable.name = fmt::format("({})", names[i]);
    frame_.named(number).is_message = i == 1;
  }
  ++num_handlers_;
  std::vector<If> tests;
  const Tree& list = child(child(child(node, "exceptions"), "PLpgSQL_exception_block"), "exc_list");
  for (const Tree& entry : list) {
    const Tree& when = inside(entry);
    If& test = tests.emplace_back();
    test.condition =
        caught_condition(child(when, "conditions"), handler.targets[0], block.body, place);
    add_all(test.body, child(when, "action"));
  }
  handler.body.push_back({.place = place, .kind = Raise{.again = true}});
  for (auto test = tests.rbegin(); test != tests.rend(); ++test) {
    test->otherwise = std::move(handler.body);
    handler.body.clear();
    handler.body.push_back({.place = place, .text = "EXCEPTION WHEN", .kind = std::move(*test)});
  }
  block.handler = std::move(handler);
  --num_handlers_;
  frame_.close_block();
  loops_.pop_back();
  to.push_back({.place = place, .text = "BEGIN … EXCEPTION", .kind = std::move(block)});
}

namespace {

// OTHERS catches all but these.
constexpr std::string_view kUncaught[] = {"P0004", "57014"};

bool names_state(const Expr& expr, std::string_view state) {
  return (expr.op == ExprOp::Text && expr.text == state) ||
         std::ranges::any_of(expr.args, [&](const Expr& arg) { return names_state(arg, state); });
}

bool raises(std::span<const Statement> body, std::string_view state) {
  return std::ranges::any_of(body, [&](const Statement& s) {
    const auto* raise = s.find<Raise>();
    const auto* update = s.find<Update>();
    const bool is_fired =
        update != nullptr && std::ranges::any_of(update->raised_states, [&](const Expr& raised) {
          return names_state(raised, state);
        });
    return is_fired || (raise != nullptr && raise->sqlstate == state) || raises(s.body(), state) ||
           raises(s.otherwise(), state);
  });
}

}  // namespace

Expr PlpgsqlBody::caught_condition(const Tree& conditions, VarId state, const Body& guarded,
                                   Place place) {
  const Expr code = make_variable(frame_, state, place);
  std::vector<Expr> any;
  for (const Tree& entry : conditions) {
    const std::string name = text_of(inside(entry), "condname");
    if (name == "others") {
      std::vector<Expr> all;
      for (const std::string_view other : kUncaught) {
        if (raises(guarded, other))
          all.push_back(make(ExprOp::NotEqual, Type::Boolean,
                             {code, make_text(std::string(other), place)}, place));
      }
      if (all.empty()) return make_boolean(true, place);
      any.push_back(all.size() == 1 ? all.front()
                                    : make(ExprOp::And, Type::Boolean, std::move(all), place));
      continue;
    }
    const auto known = sqlstate_of(name);
    if (!known) {
      findings_.fail(place, fmt::format("the condition {} is not known", name));
      return make_boolean(false, place);
    }
    if (!is_modelled_sqlstate(*known))
      findings_.note(place, fmt::format("{} is never raised here", name), NoteKind::Gap);
    if (known->ends_with("000")) {
      Expr of_class = make(ExprOp::Opaque, Type::Text, {code, make_integer(2, place)}, place);
      of_class.text = "left";
      any.push_back(make(ExprOp::Equal, Type::Boolean,
                         {std::move(of_class), make_text(known->substr(0, 2), place)}, place));
    } else {
      any.push_back(make(ExprOp::Equal, Type::Boolean, {code, make_text(*known, place)}, place));
    }
  }
  if (any.size() == 1) return std::move(any.front());
  return make(ExprOp::Or, Type::Boolean, std::move(any), place);
}

void PlpgsqlBody::add_declaration(Body& to, std::size_t datum, const Tree& variable) {
  const std::string name = text_of(variable, "refname");
  if (name == kFieldVariable) return;
  const Statement model = start(variable, name);
  if (const auto alias = aliases_.find(name); alias != aliases_.end()) {
    frame_.declare_alias(name, alias->second);
    named_[datum] = alias->second;
    return;
  }
  std::optional<Expr> value;
  const std::string type_text =
      text_of(child(child(variable, "datatype"), "PLpgSQL_type"), "typname");
  const DeclaredType type = declared_type(type_text, model.place);
  if (findings_.failed()) return;
  if (has(variable, "default_val")) {
    // The value cannot use the variable itself.
    value = expression(to, child(variable, "default_val"), model);
  }
  const std::size_t number = frame_.add_named(name, type, catalog_, model.place);
  named_[datum] = number;
  frame_.declare(number);
  if (type.is_record) {
    if (value) findings_.fail(model.place, "a record with a default is not modelled");
    return;
  }
  // A block in a loop starts with fresh variables each time.
  const bool is_not_null = flag_of(variable, "notnull");
  if (!value && loops_.empty() && !is_not_null) return;
  Expr fits = fitted(std::move(value).value_or(make_null(type.type, model.place)), type.type,
                     type.is_array, fmt::format("'{}'", name), type.width);
  const VarId var = frame_.named(number).var;
  if (is_not_null) not_null_.push_back(var);
  std::vector<VarId> targets = {var};
  Body guard = guard_targets(targets, model);
  to.push_back(model.with(Assign{.target = targets.front(), .value = std::move(fits)}));
  std::ranges::move(guard, std::back_inserter(to));
}

PlpgsqlBody::Body PlpgsqlBody::guard_targets(std::vector<VarId>& targets, const Statement& around) {
  Body guard;
  for (VarId& target : targets) {
    if (std::ranges::find(not_null_, target) == not_null_.end()) continue;
    const Variable variable = frame_.variable(target);
    const VarId given = frame_.add_hidden("given", variable.type, variable.is_array, around.place,
                                          variable.width.bits);
    const Expr value = make_variable(frame_, given, around.place);
    If test{.condition = make(ExprOp::IsNull, Type::Boolean, {value}, around.place),
            .body = {},
            .otherwise = {}};
    test.body.push_back(around.with(Raise{.sqlstate = "22004"}));
    guard.push_back(around.with(std::move(test)));
    guard.push_back(around.with(Assign{.target = target, .value = value}));
    target = given;
  }
  return guard;
}

DeclaredType PlpgsqlBody::declared_type(const std::string& text, Place place) {
  constexpr std::string_view kType = "%type";
  const std::size_t percent = text.find('%');
  if (percent != std::string::npos && text.find('.') == std::string::npos &&
      same_word(std::string_view(text).substr(percent, kType.size()), kType)) {
    std::string name = text.substr(0, percent);
    while (name.ends_with(' ')) name.pop_back();
    const NamedVariable* model = frame_.find(name);
    if (model != nullptr && !model->is_record)
      return {.type = frame_.variable(model->var).type,
              .width = frame_.variable(model->var).width,
              .is_array = frame_.variable(model->var).is_array};
    const auto known = frame_.known_names();
    findings_.fail(place, fmt::format("unknown variable '{}'", name),
                   known.empty() ? "" : suggest(name, known));
    return {};
  }
  return catalog_.type_of(text, place, findings_);
}

std::size_t PlpgsqlBody::named(std::int64_t datum, Place place) {
  if (datum >= 0) {
    const auto found = named_.find(static_cast<std::size_t>(datum));
    if (found != named_.end()) return found->second;
    const Tree& entry = static_cast<std::size_t>(datum) < datums_.size()
                            ? datums_[static_cast<std::size_t>(datum)]
                            : no_tree();
    if (const Tree& field = child(entry, "PLpgSQL_recfield"); !field.is_null()) {
      const std::size_t record = named(number_of(field, "recparentno"), place);
      if (!findings_.failed()) return field_of(record, text_of(field, "fieldname"), place);
    }
    if (text_of(child(entry, "PLpgSQL_var"), "refname") == kFieldVariable &&
        next_field_ < head_.fields.size()) {
      const RecordField& field = head_.fields[next_field_++];
      const auto record = frame_.find_number(field.record);
      if (record && frame_.named(*record).is_record) return field_of(*record, field.field, place);
      // label.variable
      if (const auto variable = frame_.find_number(field.record, field.field)) return *variable;
    }
    if (findings_.failed()) return 0;
  }
  findings_.fail(place, "this variable cannot be set", "only variables of DECLARE can");
  return 0;
}

std::size_t PlpgsqlBody::field_of(std::size_t record, const std::string& name, Place place) {
  const auto var = frame_.named(record).field(name);
  if (var) return frame_.add_name(frame_.named(record).name + "." + name, *var);
  findings_.fail(place,
                 fmt::format("the record '{}' has no field '{}'", frame_.named(record).name, name),
                 "no query has filled it before");
  return 0;
}

std::vector<std::size_t> PlpgsqlBody::targets_of(const Tree& target, Place place) {
  std::vector<std::size_t> targets;
  for (const Tree& field : child(child(target, "PLpgSQL_row"), "fields"))
    targets.push_back(named(number_of(field, "varno"), place));
  if (const Tree& record = child(target, "PLpgSQL_rec"); !record.is_null())
    targets.push_back(named(number_of(record, "dno"), place));
  if (targets.empty()) findings_.fail(place, "these targets are not understood");
  if (findings_.failed()) targets.clear();
  return targets;
}

PlpgsqlBody::Parsed PlpgsqlBody::parse(const std::string& sql, const Locator& where) {
  auto tree = parse_sql(sql);
  if (!tree) {
    const std::size_t offset = offset_of(sql, tree.error().where);
    findings_.fail(where.place(static_cast<std::int64_t>(offset)), tree.error().what,
                   tree.error().hint);
    return {};
  }
  if (tree->size() != 1) {
    findings_.fail(where.place(0), "one statement is expected here");
    return {};
  }
  return {.tree = child((*tree)[0], "stmt"), .where = where};
}

Locator PlpgsqlBody::locate(const std::string& query, std::uint32_t line, std::size_t prefix,
                            Place otherwise) {
  if (const auto token = text_.find_text(line, query))
    return text_.locator(text_.token(*token).begin, prefix);
  return {.otherwise = otherwise};
}

Scope PlpgsqlBody::scope(Body& before, const Locator& where, const std::string& text) {
  return {.catalog = catalog_,
          .findings = findings_,
          .frame = &frame_,
          .where = where,
          .names_may_clash = names_may_clash_,
          .before = &before,
          .text = text};
}

void PlpgsqlBody::add_before(Body& to, Body before) {
  if (before.empty()) return;
  Body none;
  make_one_statement(frame_, before, none);
  keep_found(frame_, before, before.front().place);
  std::ranges::move(before, std::back_inserter(to));
}

Statement PlpgsqlBody::start(const Tree& node, std::string_view word, std::string_view stop) {
  Statement statement;
  if (const auto token = text_.find_word(line_of(node), word)) {
    statement.place = text_.place_of_token(*token);
    statement.text = text_.text_from(*token, stop);
  } else {
    statement.place = text_.place_of_line(line_of(node));
  }
  return statement;
}

namespace {

bool contains_subquery(const Tree& tree) {
  if (!tree.is_object() && !tree.is_array()) return false;
  return tree.contains("SubLink") || std::ranges::any_of(tree, contains_subquery);
}

// Does the server compute it without a query, which would set ROW_COUNT?
bool is_simple(const Tree& expression) {
  const Tree& select = child(expression, "SelectStmt");
  return is_bare(select) && !contains_aggregate(child(select, "targetList")) &&
         !contains_subquery(expression);
}

}  // namespace

Expr PlpgsqlBody::expression_at(Body& to, const std::string& query, const Locator& where,
                                const Statement& around) {
  const Parsed parsed = parse(std::string(kSelect) + query, where);
  const Tree& select = child(parsed.tree, "SelectStmt");
  const Tree& targets = child(select, "targetList");
  if (findings_.failed() || targets.size() != 1) {
    findings_.fail(where.place(0), "one expression is expected here");
    return make_null(Type::Integer, around.place);
  }
  Body before;
  Scope names = scope(before, parsed.where, around.text);
  Expr result;
  const bool has_from = has(select, "fromClause");
  if (has_from || contains_aggregate(targets)) {
    // v := count(*) FROM t is short for a subquery.
    const Tree sublink = {{"subLinkType", "EXPR_SUBLINK"}, {"subselect", parsed.tree}};
    names.runs_whole = &child(child(sublink, "subselect"), "SelectStmt");
    result = build_subquery(names, sublink, around.place);
  } else {
    const Tree& value = child(inside(targets[0]), "val");
    names.runs_whole = asked_by_expression(value);
    result = build_expr(names, value);
  }
  add_before(to, std::move(before));
  if (const auto row_count = frame_.function().row_count; row_count && !is_simple(parsed.tree)) {
    if (has_from && !contains_aggregate(targets))
      findings_.note(around.place, "the ROW_COUNT of this expression is taken to be 1",
                     NoteKind::Gap);
    to.push_back(around.with(Assign{.target = *row_count, .value = make_integer(1, around.place)}));
  }
  return result;
}

Expr PlpgsqlBody::expression(Body& to, const Tree& expr, const Statement& around) {
  const std::string query = query_of(expr);
  return expression_at(to, query, locate(query, 0, kSelect.size(), around.place), around);
}

Expr PlpgsqlBody::condition(Body& to, const Tree& expr, const Statement& around) {
  return fitted(expression(to, expr, around), Type::Boolean, false, "a condition");
}

Expr PlpgsqlBody::fitted(Expr value, Type type, bool is_array, std::string_view what,
                         const Width& width) {
  Body none;
  Scope names = scope(none, {}, "");
  return without_idle_rounding(assigned(names, std::move(value), type, is_array, what, width));
}

}  // namespace isoscope::sql
