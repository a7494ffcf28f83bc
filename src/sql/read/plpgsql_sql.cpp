// SQL statements of PL/pgSQL, and what a function returns.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sql/read/inliner.h"
#include "sql/read/plpgsql_body.h"
#include "support/spelling.h"

namespace isoscope::sql {

Expr gather(std::vector<Expr> values, Place place) {
  if (values.size() == 1) return std::move(values.front());
  Expr row = make(ExprOp::ArrayOf, values.empty() ? Type::Integer : values.front().type,
                  std::move(values), place);
  row.is_array = true;
  return row;
}

std::optional<Expr> outputs_of(const FunctionHead& head, Frame& frame, Place place) {
  std::vector<Expr> values;
  for (const std::size_t output : head.outputs)
    values.push_back(make_variable(frame, frame.named(output).var, place));
  if (values.empty()) return std::nullopt;
  return gather(std::move(values), place);
}

void PlpgsqlBody::add_sql(Body& to, const Tree& node) {
  const std::string query = query_of(child(node, "sqlstmt"));
  const auto token = text_.find_text(line_of(node), query);
  Statement model;
  model.place = token ? text_.place_of_token(*token) : text_.place_of_line(line_of(node));
  if (token) model.text = text_.text_from(*token, ";");
  const Locator where =
      token ? text_.locator(text_.token(*token).begin, 0) : Locator{.otherwise = model.place};
  const Parsed parsed = parse(query, where);
  if (findings_.failed()) return;
  const std::string kind = kind_of(parsed.tree);
  const Tree& statement = inside(parsed.tree);
  std::vector<std::size_t> targets;
  if (flag_of(node, "into")) targets = targets_of(child(node, "target"), model.place);
  const bool strict = flag_of(node, "strict");
  Body before;
  Body made;
  const Scope names = scope(before, where, model.text);
  if (kind == "SelectStmt") {
    if (targets.empty()) {
      findings_.fail(model.place, "the result of this SELECT goes nowhere",
                     "use SELECT … INTO, or PERFORM to throw it away");
      return;
    }
    BuiltQuery built = build_query(names, statement);
    if (findings_.failed()) return;
    std::vector<VarId> bound = bind_targets(names, built.columns, targets, model.place);
    Body guard = guard_targets(bound, model);
    add_select(made, names, std::move(built), bound, Select{.strict = strict}, model);
    std::ranges::move(guard, std::back_inserter(made));
  } else if (kind == "InsertStmt" || kind == "UpdateStmt" || kind == "DeleteStmt") {
    add_write(made, names, kind, statement, targets, strict, model);
    for (const std::size_t target : targets) {
      if (!frame_.named(target).is_record &&
          std::ranges::find(not_null_, frame_.named(target).var) != not_null_.end())
        findings_.fail(model.place, "RETURNING INTO a variable that is NOT NULL is not modelled");
    }
  } else if (kind != "NotifyStmt" || text_.mentions("row_count")) {
    // NOTIFY changes no row, and does not fail.
    const std::string word = model.text.substr(0, model.text.find(' '));
    findings_.fail(model.place,
                   fmt::format("{} is not modelled", word.empty() ? "this statement" : word),
                   "SELECT, INSERT, UPDATE and DELETE are");
  }
  make_one_statement(frame_, before, made);
  add_before(to, std::move(before));
  for (Statement& each : made) to.push_back(std::move(each));
}

void PlpgsqlBody::add_call(Body& to, const Tree& node) {
  const Statement model = start(node, "CALL");
  const std::string query = query_of(child(node, "expr"));
  const Parsed parsed = parse(query, {.otherwise = model.place});
  if (findings_.failed()) return;
  const Tree& call = child(child(parsed.tree, "CallStmt"), "funccall");
  Body before;
  Scope names = scope(before, parsed.where, model.text);
  names.discards = true;
  if (!catalog_.functions.contains(last_name(child(call, "funcname")))) {
    findings_.fail(model.place, "CALL of a procedure that is not in the file");
    return;
  }
  const Expr value = build_call(names, call, model.place);
  if (value.op != ExprOp::Null)
    findings_.fail(model.place, "CALL of a procedure with INOUT is not modelled");
  Body none;
  make_one_statement(frame_, before, none);
  std::ranges::move(before, std::back_inserter(to));
}

std::optional<BuiltQuery> PlpgsqlBody::rows_of_statement(Body& to, const Parsed& parsed,
                                                         const Statement& model) {
  const std::string kind = kind_of(parsed.tree);
  Body before;
  const Scope names = scope(before, parsed.where, model.text);
  if (kind == "SelectStmt") {
    BuiltQuery built = build_query(names, inside(parsed.tree));
    if (findings_.failed()) return std::nullopt;
    // A called function has ended its statements: the query then begins one.
    to_continues_ = !before.empty() && std::ranges::any_of(before, [](const Statement& s) {
      return !s.is_separate() && (s.is_sql() || has_sql(s.body()) || has_sql(s.otherwise()));
    });
    if (!built.query.rows && !built.query.sources.empty()) mark_calls_as_rough(before);
    add_before(to, std::move(before));
    return built;
  }
  if (kind != "InsertStmt" && kind != "UpdateStmt" && kind != "DeleteStmt") {
    findings_.fail(model.place, "this statement gives no rows");
    return std::nullopt;
  }
  if (frame_.function().row_count)
    findings_.note(model.place, "ROW_COUNT after a loop over changed rows is not as on the server",
                   NoteKind::Gap);
  NamedRows rows;
  Body made;
  rows.rows = add_row_set(names, "returned", made, model.place);
  std::vector<ResultColumn> columns;
  add_write_rows(made, names, kind, inside(parsed.tree), rows.rows, columns, model);
  if (!findings_.failed() && columns.empty())
    findings_.fail(model.place, "this statement gives no rows", "add RETURNING");
  if (findings_.failed()) return std::nullopt;
  rows.columns = source_columns(columns);
  make_one_statement(frame_, before, made);
  add_before(to, std::move(before));
  std::ranges::move(made, std::back_inserter(to));
  return query_of_rows(rows, model.place);
}

void PlpgsqlBody::add_perform(Body& to, const Tree& node) {
  const std::string query = query_of(child(node, "expr"));
  const auto token = text_.find_word(line_of(node), "PERFORM");
  Statement model;
  model.place = token ? text_.place_of_token(*token) : text_.place_of_line(line_of(node));
  if (token) model.text = text_.text_from(*token, ";");
  // The parser writes SELECT for PERFORM.
  const std::size_t word = query.find_first_not_of(" \n\t\r");
  const std::size_t prefix = (word == std::string::npos ? 0 : word) + kSelect.size() - 1;
  const Locator where =
      token ? text_.locator(text_.token(*token).end, prefix) : Locator{.otherwise = model.place};
  const Parsed parsed = parse(query, where);
  if (findings_.failed()) return;
  Body before;
  Scope names = scope(before, where, model.text);
  // PERFORM f(x) is the call and nothing else; there is one row, unless f returns rows.
  const Tree& select = child(parsed.tree, "SelectStmt");
  const Tree& targets = child(select, "targetList");
  const Tree& call =
      targets.size() == 1 ? child(child(inside(targets[0]), "val"), "FuncCall") : no_tree();
  const bool is_of_call = !call.is_null() && !has(select, "fromClause");
  names.discards = is_of_call && is_bare(select);
  const auto found = frame_.function().found;
  const auto row_count = frame_.function().row_count;
  const auto known = catalog_.functions.find(last_name(child(call, "funcname")));
  const bool is_call = names.discards && known != catalog_.functions.end();
  if (is_of_call && !names.discards && known != catalog_.functions.end()) {
    findings_.fail(model.place, fmt::format("whether {} is called here is not known", known->first),
                   "write IF … THEN PERFORM");
    return;
  }
  const bool counts_rows = is_call && (found || row_count) &&
                           std::ranges::any_of(known->second, [](const FunctionText& function) {
                             return returns_rows(*function.node);
                           });
  if (is_call && !counts_rows) {
    (void)build_call(names, call, model.place);
    Body none;
    make_one_statement(frame_, before, none);
    std::ranges::move(before, std::back_inserter(to));
    if (found)
      to.push_back(model.with(Assign{.target = *found, .value = make_boolean(true, model.place)}));
    if (row_count)
      to.push_back(model.with(Assign{.target = *row_count, .value = make_integer(1, model.place)}));
    return;
  }
  const auto rows = counts_rows ? rows_of_call(names, call, model.place) : std::nullopt;
  BuiltQuery built = rows ? query_of_rows(*rows, model.place) : build_query(names, select);
  if (findings_.failed()) return;
  if (names.discards && !before.empty() && before.back().advisory() != nullptr) {
    // The lock is all of the statement, and sets FOUND.
    before.back().as<Select>().targets.clear();
    before.back().as<Select>().in_expression = false;
    Body none;
    make_one_statement(frame_, before, none);
    std::ranges::move(before, std::back_inserter(to));
    return;
  }
  const bool drops_equal_rows = has(select, "distinctClause") ||
                                (text_of(select, "op") == "SETOP_UNION" && !flag_of(select, "all"));
  if (drops_equal_rows)
    findings_.note(model.place, "PERFORM counts rows that DISTINCT or UNION takes for equal",
                   NoteKind::Gap);
  // The values are thrown away, but whether there are rows sets FOUND.
  if (!built.query.is_aggregate()) built.query.outputs.clear();
  built.computed.clear();
  Body made;
  made.push_back(model.with(Select{.query = std::move(built.query)}));
  make_one_statement(frame_, before, made);
  add_before(to, std::move(before));
  to.push_back(std::move(made.front()));
}

namespace {

// Does a statement that gives rows write as well, itself or in a WITH?
bool writes(const Tree& tree) {
  if (kind_of(tree) != "SelectStmt") return true;
  return std::ranges::any_of(
      child(child(inside(tree), "withClause"), "ctes"),
      [](const Tree& entry) { return kind_of(child(inside(entry), "ctequery")) != "SelectStmt"; });
}

}  // namespace

void PlpgsqlBody::add_for_query(Body& to, const Tree& node) {
  Statement model = start(node, "FOR", "LOOP");
  const std::vector<std::size_t> targets = targets_of(child(node, "var"), model.place);
  const std::string query = query_of(child(node, "query"));
  const Parsed parsed = parse(query, locate(query, 0, 0, model.place));
  if (findings_.failed()) return;
  auto built = rows_of_statement(to, parsed, model);
  if (!built) return;
  model.continues = to_continues_;
  Body none;
  const Scope names = scope(none, parsed.where, model.text);
  std::vector<VarId> bound = bind_targets(names, built->columns, targets, model.place);
  Body guard = guard_targets(bound, model);
  Statement loop = make_loop(names, *std::move(built), bound, model);
  std::ranges::move(guard, std::back_inserter(loop.as<ForQuery>().body));
  const bool is_writing = writes(parsed.tree);
  if (is_writing) ++frame_.num_writing_loops;
  for (Statement& each : loop_body(node)) loop.as<ForQuery>().body.push_back(std::move(each));
  if (is_writing) --frame_.num_writing_loops;
  if (loop.lock() != Lock::None) {
    if (head_.is_procedure) check_locking_loop(loop);
    note_fetched_rows(loop);
  }
  to.push_back(std::move(loop));
}

// A procedure fetches the rows of a loop one by one, since a COMMIT may come: rows are locked when
// the loop comes to them, and what is left at a COMMIT is locked then. A function fetches ahead.
void PlpgsqlBody::check_locking_loop(const Statement& loop) {
  if (const Statement* end = find_end_of_transaction(loop.body())) {
    findings_.fail(end->place,
                   "the end of a transaction in a loop over a query that locks is not modelled",
                   "lock the row in the loop");
    return;
  }
  findings_.note(
      loop.place,
      "a procedure locks the rows of this loop one by one; here it locks all of them first",
      NoteKind::Gap);
}

namespace {

// May the body leave the loop before its last row?
bool may_leave(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    const auto* next = s.find<Continue>();
    return s.is<Exit>() || s.is<Return>() || (next != nullptr && next->depth > 0) ||
           may_leave(s.body()) || may_leave(s.otherwise());
  });
}

// Is it `key = v`, of a variable that the loop sets?
bool is_row_of_loop(const Expr& condition, const ForQuery& loop, const Table& table) {
  if (condition.op == ExprOp::And)
    return std::ranges::any_of(condition.args,
                               [&](const Expr& part) { return is_row_of_loop(part, loop, table); });
  if (condition.op != ExprOp::Equal || table.primary_key.size() != 1) return false;
  const auto is_pair = [&](const Expr& column, const Expr& value) {
    return column.op == ExprOp::Column && column.column == table.primary_key.front() &&
           value.op == ExprOp::Variable &&
           std::ranges::find(loop.targets, value.var) != loop.targets.end();
  };
  return is_pair(condition.args[0], condition.args[1]) ||
         is_pair(condition.args[1], condition.args[0]);
}

}  // namespace

// The server fetches 10 rows, then 50 at a time; those that it does not come to are not locked, and
// those that the body has changed by then are passed over.
void PlpgsqlBody::note_fetched_rows(const Statement& loop) {
  const auto& each = loop.as<ForQuery>();
  if (each.query.limit && each.query.limit->op == ExprOp::Integer && each.query.limit->number <= 10)
    return;
  const std::function<bool(std::span<const Statement>)> changes_others =
      [&](std::span<const Statement> body) {
        return std::ranges::any_of(body, [&](const Statement& s) {
          const SearchedWrite* write = s.searched();
          const bool is_of_loop =
              write != nullptr &&
              std::ranges::find(each.query.sources, write->table) != each.query.sources.end();
          const bool is_other =
              is_of_loop &&
              !(write->where && is_row_of_loop(*write->where, each, catalog_.table(write->table)));
          return is_other || changes_others(s.body()) || changes_others(s.otherwise());
        });
      };
  if (may_leave(each.body) || changes_others(each.body))
    findings_.note(loop.place,
                   "the server may not lock all rows of this loop: it fetches some of them at a "
                   "time, and the loop ends early or changes them",
                   NoteKind::Gap);
}

Expr PlpgsqlBody::returned(Body& to, const Tree& node, std::size_t word, const Statement& around) {
  // A variable alone may be missing in the tree; a record alone is all of its fields.
  if (word + 1 < text_.num_tokens() && text_.word(word + 1) == ";") {
    const NamedVariable* variable = frame_.find(lower_case(text_.word(word)));
    if (variable != nullptr && variable->is_record) {
      std::vector<Expr> values;
      for (const FieldVariable& field : variable->fields)
        values.push_back(make_variable(frame_, field.var, around.place));
      return gather(std::move(values), around.place);
    }
    if (variable != nullptr) return make_variable(frame_, variable->var, around.place);
  }
  if (has(node, "expr")) return expression(to, child(node, "expr"), around);
  findings_.fail(around.place, "what is returned here is not understood");
  return make_null(Type::Integer, around.place);
}

void PlpgsqlBody::add_return(Body& to, const Tree& node) {
  Statement model;
  const auto token = text_.find_word(line_of(node), "RETURN");
  model.place = token ? text_.place_of_token(*token) : text_.place_of_line(line_of(node));
  if (!token && !has(node, "expr")) return;  // the end of the function, which the parser adds
  if (token) model.text = text_.text_from(*token, ";");
  std::optional<Expr> value;
  const std::size_t next = token ? *token + 1 : text_.num_tokens();
  const bool is_plain =
      !has(node, "expr") && (next >= text_.num_tokens() || text_.word(next) == ";");
  if (is_plain) {
    if (!head_.returns_rows) value = outputs_of(head_, frame_, model.place);
  } else {
    value = returned(to, node, next, model);
    const auto type = frame_.function().returns;
    if (type && !head_.returns_record) {
      value = fitted(*std::move(value), *type, head_.returns_array, "the result");
      if (head_.returns_bits < value->bits)
        value = cast_number(*std::move(value), head_.returns_bits);
    }
  }
  to.push_back(model.with(Return{.value = std::move(value)}));
}

void PlpgsqlBody::add_return_next(Body& to, const Tree& node) {
  const Statement model = start(node, "RETURN");
  const auto next = text_.find_word(line_of(node), "NEXT");
  const std::size_t after = next ? *next + 1 : text_.num_tokens();
  const bool is_plain = after >= text_.num_tokens() || text_.word(after) == ";";
  std::optional<Expr> value =
      is_plain ? outputs_of(head_, frame_, model.place) : returned(to, node, after, model);
  to.push_back(model.with(ReturnRow{.value = std::move(value)}));
}

void PlpgsqlBody::add_return_query(Body& to, const Tree& node) {
  const Statement model = start(node, "RETURN");
  if (has(node, "dynquery")) {
    findings_.fail(model.place, "RETURN QUERY EXECUTE is not modelled: its text is not known",
                   "write the query itself");
    return;
  }
  const std::string query = query_of(child(node, "query"));
  const Parsed parsed = parse(query, locate(query, 0, 0, model.place));
  if (findings_.failed()) return;
  auto built = rows_of_statement(to, parsed, model);
  if (!built) return;
  const auto row_count = frame_.function().row_count;
  const auto count = [&](Body& in, Expr value) {
    if (row_count)
      in.push_back(model.with(Assign{.target = *row_count, .value = std::move(value)}));
  };
  count(to, make_integer(0, model.place));
  Statement loop_model = model;
  loop_model.continues = to_continues_;
  Body none;
  Statement loop =
      make_row_loop(scope(none, parsed.where, model.text), *std::move(built), loop_model);
  if (row_count)
    count(loop.as<ForQuery>().body,
          make(ExprOp::Add, Type::Integer,
               {make_variable(frame_, *row_count, model.place), make_integer(1, model.place)},
               model.place));
  to.push_back(std::move(loop));
}

void PlpgsqlBody::add_diagnostics(Body& to, const Tree& node) {
  const Statement model = start(node, "GET");
  for (const Tree& entry : child(node, "diag_items")) {
    const Tree& item = inside(entry);
    const auto row_count = frame_.function().row_count;
    if (text_of(item, "kind") != "ROW_COUNT" || !row_count) {
      findings_.fail(model.place, "only ROW_COUNT is modelled in GET DIAGNOSTICS");
      return;
    }
    const std::size_t target = named(number_of(item, "target"), model.place);
    if (findings_.failed()) return;
    if (frame_.named(target).is_record ||
        frame_.variable(frame_.named(target).var).type != Type::Integer) {
      findings_.fail(model.place, "ROW_COUNT goes to an integer variable");
      return;
    }
    to.push_back(model.with(Assign{.target = frame_.named(target).var,
                                   .value = make_variable(frame_, *row_count, model.place)}));
  }
}

Statement make_row_loop(const Scope& scope, BuiltQuery built, const Statement& model) {
  std::vector<VarId> targets;
  std::vector<Expr> values;
  for (const ResultColumn& column : built.columns) {
    targets.push_back(
        scope.frame->add_hidden("result", column.type, column.is_array, model.place, column.bits));
    values.push_back(make_variable(*scope.frame, targets.back(), model.place));
  }
  Statement loop = make_loop(scope, std::move(built), targets, model);
  loop.as<ForQuery>().body.push_back(
      model.with(ReturnRow{.value = gather(std::move(values), model.place)}));
  return loop;
}

}  // namespace isoscope::sql
