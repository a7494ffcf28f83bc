#include "sql/read/workload_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/evaluate.h"
#include "sql/read/expr_builder.h"
#include "sql/read/pg_parse.h"
#include "sql/read/write_builder.h"
#include "support/spelling.h"
#include "support/text_cursor.h"

namespace isoscope::sql {
namespace {

std::string_view without_dashes(std::string_view line) {
  line = lexical::trimmed(line);
  if (line.starts_with("--")) {
    while (line.starts_with('-')) line.remove_prefix(1);
    line = lexical::trimmed(line);
  }
  return line;
}

constexpr std::string_view kSession = "session ";

// Is it computed of constants alone?
bool is_computable(const Expr& expr) {
  return expr.op != ExprOp::Variable && expr.op != ExprOp::Column && expr.op != ExprOp::Opaque &&
         std::ranges::all_of(expr.args, is_computable);
}

// What DEFAULT now() and the like give to a row at the start: something.
Value unknown_default(const Column& column) {
  switch (column.type) {
    case Type::Integer: return Value(std::int64_t{0});
    case Type::Text: return Value(std::string("default"));
    case Type::Boolean: return Value(false);
    case Type::Numeric: return Value(Decimal{});
  }
  return {};
}

// The value of an expression without names; fails if it has any.
Value constant_value(const Expr& expr, Findings& findings) {
  switch (expr.op) {
    case ExprOp::Null: return {};
    case ExprOp::Integer: return Value(expr.number);
    case ExprOp::Text: return Value(expr.text);
    case ExprOp::Boolean: return Value(expr.number != 0);
    case ExprOp::Decimal:
      if (const auto number = parse_decimal(expr.text)) return Value(*number);
      break;
    case ExprOp::ArrayOf: {
      std::vector<Value> elements;
      for (const Expr& arg : expr.args) elements.push_back(constant_value(arg, findings));
      return Value(std::move(elements));
    }
    case ExprOp::Opaque:
      // A date or a fraction, as the text that was written.
      if (expr.text == "constant" && expr.args.size() == 1)
        findings.fail(expr.place, fmt::format("'{}' is no whole number", expr.args[0].text),
                      "dates are whole numbers here");
      break;
    default:
      if (is_computable(expr)) {
        if (auto value = evaluate(expr, {})) return *std::move(value);
      }
      break;
  }
  findings.fail(expr.place, "only constants can stand here",
                "1, 1.5, 'a', true, NULL, ARRAY[1, 2]; -1 as well");
  return {};
}

Expr constant_of(const Value& value, Type type, Place place) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data))
    return make_integer(*number, place);
  if (const auto* number = std::get_if<Decimal>(&value.data)) return make_decimal(*number, place);
  if (const auto* text = std::get_if<std::string>(&value.data)) return make_text(*text, place);
  if (const auto* truth = std::get_if<bool>(&value.data)) return make_boolean(*truth, place);
  return make_null(type, place);
}

// A comment that stands in a text at `place`: what is parsed out of it at `offset`.
Place place_in(Place place, std::size_t offset) {
  return {place.line, place.column + static_cast<std::uint32_t>(offset)};
}

}  // namespace

std::string passed_over(const std::string& trigger) {
  return fmt::format("the trigger {} does not fire for rows of the start, as it does on the server",
                     trigger);
}

std::string refused_row(const Error& why) {
  return fmt::format("the server refuses this row of the start: {}", why.what);
}

bool may_change_rows(std::span<const Note> notes) {
  return std::ranges::any_of(notes, [](const Note& note) {
    return note.kind != NoteKind::Remark && note.function.empty() && !note.table;
  });
}

InitialRowReader::InitialRowReader(Application& app) : app_(app), rules_(app) {
  catalog_.tables = app.tables;
  for (const InitialRow& row : app.initial_rows) remember(row);
  rules_.trust_rows();
  for (const Sequence& sequence : app.sequences) restarts_[sequence.name] = sequence.start;
}

bool InitialRowReader::remember(const InitialRow& row) {
  const Table& table = catalog_.table(row.table);
  Known& known = known_[row.table];
  for (const ColumnId i : table.columns.ids()) {
    const auto* number = std::get_if<std::int64_t>(&row.values[i].data);
    if (table.columns[i].is_fresh && number != nullptr)
      known.largest[i] = std::max(known.largest[i], *number);
  }
  std::vector<Value> key;
  for (const ColumnId column : table.primary_key) key.push_back(row.values[column]);
  return known.keys.insert(std::move(key)).second;
}

void InitialRowReader::add_row(TableId id, const ById<ColumnId, std::optional<Value>>& given,
                               Place place, Findings& findings) {
  const Table& table = catalog_.table(id);
  InitialRow row{.table = id, .values = {}, .place = place};
  for (const ColumnId i : table.columns.ids()) {
    const Column& column = table.columns[i];
    if (given[i]) {
      row.values.push_back(kept_in(column.width, *given[i]));
    } else if (column.drawn_from) {
      Sequence& sequence = app_.sequences[column.drawn_from->index];
      row.values.emplace_back(sequence.start);
      sequence.start += sequence.increment;
    } else if (column.is_fresh) {
      const std::int64_t largest = known_[id].largest[i];
      row.values.emplace_back(largest == INT64_MAX ? largest : largest + 1);
    } else if (column.default_value) {
      row.values.push_back(is_computable(*column.default_value)
                               ? constant_value(*column.default_value, findings)
                               : unknown_default(column));
    } else {
      row.values.emplace_back();
    }
  }
  for (const ColumnId i : table.columns.ids()) {
    const Column& column = table.columns[i];
    if (column.generated)
      row.values[i] = constant_value(
          with_columns(*column.generated,
                       [&](ColumnId of) -> std::optional<Expr> {
                         return constant_of(row.values[of], table.columns[of].type, place);
                       }),
          findings);
    if (column.not_null && row.values[i].is_null())
      findings.fail(place,
                    fmt::format("column '{}' of '{}' cannot be NULL", column.name, table.name));
  }
  if (!remember(row))
    findings.fail(place, fmt::format("'{}' has a row of this key already", table.name));
  app_.initial_rows.push_back(std::move(row));
}

void InitialRowReader::add(const Tree& insert, const Locator& where, Findings& findings) {
  const std::size_t first = app_.initial_rows.size();
  add_unchecked(insert, where, findings);
  if (findings.failed()) return;
  for (std::size_t i = first; i < app_.initial_rows.size(); ++i) {
    const InitialRow& row = app_.initial_rows[i];
    const std::string& trigger = app_.table(row.table).insert_trigger;
    if (trigger.empty()) continue;
    app_.notes.push_back(
        {.where = row.place, .function = {}, .what = passed_over(trigger), .kind = NoteKind::Free});
    break;
  }
  Findings own;
  check(own);
  if (own.failed() && !may_change_rows(app_.notes))
    return findings.fail(own.error().where, own.error().what, own.error().hint);
  if (own.failed()) own.note(own.error().where, refused_row(own.error()), NoteKind::Free);
  app_.notes.insert(app_.notes.end(), own.notes().begin(), own.notes().end());
}

void InitialRowReader::check(Findings& findings) {
  mark_sequences();
  rules_.check_rows(findings);
}

void InitialRowReader::mark_sequences() {
  for (const InitialRow& row : app_.initial_rows) {
    for (const ColumnId c : row.values.ids()) {
      const auto drawn_from = app_.table(row.table).columns[c].drawn_from;
      const auto* number = std::get_if<std::int64_t>(&row.values[c].data);
      if (!drawn_from || number == nullptr) continue;
      Sequence& sequence = app_.sequences[drawn_from->index];
      const bool is_ahead =
          sequence.increment > 0 ? *number >= sequence.start : *number <= sequence.start;
      sequence.may_meet_rows = sequence.may_meet_rows || is_ahead;
    }
  }
}

void InitialRowReader::add_unchecked(const Tree& insert, const Locator& where, Findings& findings) {
  const Tree& relation = child(insert, "relation");
  const Place place = where.place(number_of(relation, "location"));
  const auto id = catalog_.expect_table(text_of(relation, "relname"), place, findings);
  const Tree& select = child(child(insert, "selectStmt"), "SelectStmt");
  if (!has(select, "valuesLists") || has(insert, "onConflictClause") ||
      has(insert, "returningList") || text_of(insert, "override") == "OVERRIDING_USER_VALUE")
    findings.fail(place, "only INSERT … VALUES of constants can stand outside of functions");
  if (!id || findings.failed()) return;
  const Table& table = catalog_.table(*id);
  std::vector<ColumnId> columns;
  for (const Tree& entry : child(insert, "cols")) {
    const std::string name = text_of(inside(entry), "name");
    const auto column = find_column(table, name);
    if (!column) {
      findings.fail(where.place(number_of(inside(entry), "location")),
                    fmt::format("'{}' has no column '{}'", table.name, name),
                    suggest_column(table, name));
      return;
    }
    columns.push_back(*column);
  }
  for (const ColumnId c : table.columns.ids()) {
    if (!has(insert, "cols") && !table.columns[c].is_hidden) columns.push_back(c);
  }
  for (const Tree& row : child(select, "valuesLists")) {
    const Tree& items = child(inside(row), "items");
    if (items.size() > columns.size() || (has(insert, "cols") && items.size() < columns.size())) {
      findings.fail(place, fmt::format("{} values for {} columns of '{}'", items.size(),
                                       columns.size(), table.name));
      return;
    }
    ById<ColumnId, std::optional<Value>> given(table.columns.size());
    Place at = place;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (kind_of(items[i]) == "SetToDefault") continue;
      Scope scope{.catalog = catalog_, .findings = findings, .where = where};
      const Column& column = table.columns[columns[i]];
      if (column.is_always && text_of(insert, "override") != "OVERRIDING_SYSTEM_VALUE")
        return findings.fail(place,
                             fmt::format("'{}' of '{}' is GENERATED ALWAYS, and the server refuses "
                                         "a value for it (428C9)",
                                         column.name, table.name),
                             "leave the column out, or write OVERRIDING SYSTEM VALUE");
      const Expr value = assigned(scope, build_expr(scope, items[i]), column.type, false,
                                  fmt::format("column '{}'", column.name), column.width);
      if (i == 0) at = value.place;
      given[columns[i]] = constant_value(value, findings);
      if (findings.failed()) return;
    }
    add_row(*id, given, at, findings);
  }
}

bool is_session_line(std::string_view line) {
  line = without_dashes(line);
  if (!line.starts_with(kSession)) return false;
  const std::string_view rest = lexical::trimmed(line.substr(kSession.size()));
  const std::size_t colon = rest.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         rest.substr(0, colon).find_first_of(" \t(;") == std::string_view::npos;
}

// The function and the arguments of a call's text, f(1, 'a'). Calls of functions that were left out
// are none: `is_left_out`.
void read_call(Application& app, const std::string& text, const std::string& session,
               SessionCall& call, bool& is_left_out, Findings& findings) {
  const Place at = call.place;
  const auto tree = parse_sql("SELECT " + text);
  const Tree& targets = tree && tree->size() == 1
                            ? child(child(child((*tree)[0], "stmt"), "SelectStmt"), "targetList")
                            : no_tree();
  const Tree& function_call =
      targets.size() == 1 ? child(child(inside(targets[0]), "val"), "FuncCall") : no_tree();
  const std::string name = last_name(child(function_call, "funcname"));
  if (name.empty())
    return findings.fail(at, tree ? "a call is expected here" : tree.error().what,
                         "as in f(1, 'a')");
  const auto number = app.find_function(name);
  is_left_out = !number && std::ranges::find(app.left_out, name) != app.left_out.end();
  if (is_left_out) {
    app.notes.push_back(
        {.where = at,
         .function = name,
         .what = fmt::format("session '{}' is left out, since it calls {}", session, name),
         .leaves_out_session = true});
    return;
  }
  if (!number) {
    std::vector<std::string_view> names;
    for (const Function& function : app.functions) names.push_back(function.name);
    return findings.fail(at, fmt::format("unknown function '{}'", name),
                         names.empty() ? "there are no functions" : suggest(name, names));
  }
  call.function = *number;
  const Function& function = app.function(*number);
  const Tree& arguments = child(function_call, "args");
  if (arguments.size() != function.num_parameters)
    return findings.fail(at, fmt::format("{} takes {} arguments, but gets {}", name,
                                         function.num_parameters, arguments.size()));
  Catalog catalog;
  for (std::size_t k = 0; k < arguments.size() && !findings.failed(); ++k) {
    Scope scope{.catalog = catalog, .findings = findings, .where = {.otherwise = at}};
    const Variable& parameter = function.variables[k];
    Expr value = adapt(scope, build_expr(scope, arguments[k]), parameter.type, parameter.is_array,
                       fmt::format("'{}'", parameter.name));
    if (!parameter.is_array) value = round_to(std::move(value), parameter.width);
    call.arguments.push_back(constant_value(value, findings));
  }
}

void add_session(Application& app, std::string_view line, Place place, Findings& findings) {
  const std::string_view content = without_dashes(line);
  const std::size_t colon = content.find(':');
  SqlSession session{
      .name =
          std::string(lexical::trimmed(content.substr(kSession.size(), colon - kSession.size()))),
      .calls = {}};
  for (const SqlSession& other : app.sessions) {
    if (other.name == session.name)
      findings.fail(place, fmt::format("session '{}' is declared twice", session.name));
  }
  const std::string_view calls = content.substr(colon + 1);
  const Place start = place_in(place, static_cast<std::size_t>(calls.data() - line.data()));
  const auto tokens = scan_sql(calls);
  if (!tokens) {
    findings.fail(place_in(start, tokens.error().where.column - 1), tokens.error().what);
    return;
  }
  const auto word = [&](std::size_t i) {
    return calls.substr((*tokens)[i].begin, (*tokens)[i].end - (*tokens)[i].begin);
  };
  bool is_complete = true;
  for (std::size_t i = 0; i < tokens->size();) {
    if (findings.failed()) return;
    if (word(i) == ";") {
      ++i;
      continue;
    }
    const std::size_t first = i;
    while (i < tokens->size() && word(i) != ";" && word(i) != "@") ++i;
    const std::uint32_t begin = (*tokens)[first].begin;
    SessionCall call;
    call.place = place_in(start, begin);
    if (i == first) {
      findings.fail(call.place, "a call is expected here", "as in f(1, 'a')");
      return;
    }
    const std::string text(calls.substr(begin, (*tokens)[i - 1].end - begin));
    if (i < tokens->size() && word(i) == "@") {
      const std::uint32_t from = (*tokens)[i].end;
      while (i < tokens->size() && word(i) != ";") ++i;
      call.level = lexical::trimmed(calls.substr(from, (*tokens)[i - 1].end - from));
      if (call.level.empty()) findings.fail(call.place, "a level is expected behind @");
    }
    bool is_left_out = false;
    read_call(app, text, session.name, call, is_left_out, findings);
    if (findings.failed()) return;
    is_complete &= !is_left_out;
    if (!is_left_out) session.calls.push_back(std::move(call));
  }
  if (is_complete) app.sessions.push_back(std::move(session));
}

std::string_view isolation_comment(std::string_view comment) {
  constexpr std::string_view kMark = "@isolation";
  if (!comment.starts_with("--")) return {};
  comment = without_dashes(comment);
  if (!comment.starts_with(kMark)) return {};
  return lexical::trimmed(comment.substr(kMark.size()));
}

}  // namespace isoscope::sql
