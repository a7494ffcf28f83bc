#include "sql/plpgsql_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/plpgsql_body.h"
#include "sql/sqlstates.h"

namespace isoscope::sql {
namespace {

constexpr std::int64_t kRaiseError = 21;  // PostgreSQL's number for ERROR
constexpr int kMaxStatementLevels = 150;  // statements in each other
// Branches of IF and CASE, each of which stands in the ones before it.
constexpr int kMaxBranchLevels = 1000;

}  // namespace

void PlpgsqlBody::add_all(Body& to, const Tree& list) {
  for (const Tree& node : list) add_statement(to, node);
}

void PlpgsqlBody::add_statement(Body& to, const Tree& wrapped) {
  if (findings_.failed()) return;
  const Tree& node = inside(wrapped);
  ++nesting_;
  if (fits(node)) dispatch(to, kind_of(wrapped), node);
  --nesting_;
}

bool PlpgsqlBody::fits(const Tree& node) {
  if (nesting_ <= kMaxStatementLevels && branches_ <= kMaxBranchLevels) return true;
  const Place place = text_.place_of_line(line_of(node));
  if (nesting_ > kMaxStatementLevels) {
    findings_.fail(place, "these statements nest too deeply",
                   fmt::format("at most {} in each other", kMaxStatementLevels));
  } else {
    findings_.fail(place, "these branches are too many",
                   fmt::format("at most {} ELSIF or WHEN behind each other", kMaxBranchLevels));
  }
  return false;
}

void PlpgsqlBody::dispatch(Body& to, const std::string& kind, const Tree& node) {
  if (kind == "PLpgSQL_stmt_block") return add_block(to, node);
  if (kind == "PLpgSQL_stmt_assign") return add_assign(to, node);
  if (kind == "PLpgSQL_stmt_if") return add_if(to, node);
  if (kind == "PLpgSQL_stmt_case") return add_case(to, node);
  if (kind == "PLpgSQL_stmt_loop") return add_loop(to, node);
  if (kind == "PLpgSQL_stmt_while") return add_while(to, node);
  if (kind == "PLpgSQL_stmt_fori") return add_for_range(to, node);
  if (kind == "PLpgSQL_stmt_fors") return add_for_query(to, node);
  if (kind == "PLpgSQL_stmt_foreach_a") return add_for_array(to, node);
  if (kind == "PLpgSQL_stmt_exit") return add_exit(to, node);
  if (kind == "PLpgSQL_stmt_return") return add_return(to, node);
  if (kind == "PLpgSQL_stmt_return_next") return add_return_next(to, node);
  if (kind == "PLpgSQL_stmt_return_query") return add_return_query(to, node);
  if (kind == "PLpgSQL_stmt_raise") return add_raise(to, node);
  if (kind == "PLpgSQL_stmt_assert") return add_assert(to, node);
  if (kind == "PLpgSQL_stmt_execsql") return add_sql(to, node);
  if (kind == "PLpgSQL_stmt_perform") return add_perform(to, node);
  if (kind == "PLpgSQL_stmt_getdiag") return add_diagnostics(to, node);
  if (kind == "PLpgSQL_stmt_call") return add_call(to, node);
  refuse(kind, node);
}

void PlpgsqlBody::refuse(const std::string& kind, const Tree& node) {
  struct Refusal {
    std::string_view kind, word, what, hint;
  };
  static constexpr Refusal kRefusals[] = {
      {"PLpgSQL_stmt_dynexecute", "EXECUTE", "EXECUTE is not modelled: its text is not known",
       "write the statement itself"},
      {"PLpgSQL_stmt_dynfors", "FOR", "FOR … IN EXECUTE is not modelled: its text is not known",
       "write the query itself"},
      {"PLpgSQL_stmt_commit", "COMMIT", "COMMIT is not modelled: a function is one transaction",
       "make it two functions"},
      {"PLpgSQL_stmt_rollback", "ROLLBACK",
       "ROLLBACK is not modelled: a function is one transaction", "use RAISE EXCEPTION"},
      {"PLpgSQL_stmt_open", "OPEN", "cursors are not modelled", "use FOR … IN SELECT"},
      {"PLpgSQL_stmt_fetch", "FETCH", "cursors are not modelled", "use FOR … IN SELECT"},
      {"PLpgSQL_stmt_close", "CLOSE", "cursors are not modelled", "use FOR … IN SELECT"},
      {"PLpgSQL_stmt_forc", "FOR", "cursors are not modelled", "use FOR … IN SELECT"},
  };
  for (const Refusal& refusal : kRefusals) {
    if (refusal.kind != kind) continue;
    const Place place = start(node, refusal.word).place;
    findings_.fail(place, std::string(refusal.what), std::string(refusal.hint));
    return;
  }
  findings_.fail(text_.place_of_line(line_of(node)),
                 fmt::format("this statement ({}) is not modelled", kind));
}

void PlpgsqlBody::add_assign(Body& to, const Tree& node) {
  const std::string query = query_of(child(node, "expr"));
  const auto token = text_.find_text(line_of(node), query);
  Statement assign{.op = StatementOp::Assign};
  assign.place = token ? text_.place_of_token(*token) : text_.place_of_line(line_of(node));
  if (token) assign.text = text_.text_from(*token, ";");
  // The parser keeps "v := e" whole: the sign is the first outside of brackets.
  const auto tokens = scan_sql(query);
  int depth = 0;
  std::size_t sign = 0;
  std::size_t value = 0;
  for (std::size_t i = 0; tokens && i < tokens->size() && value == 0; ++i) {
    const auto [begin, end] = (*tokens)[i];
    const std::string_view word = std::string_view(query).substr(begin, end - begin);
    if (word == "[" || word == "(") ++depth;
    if (word == "]" || word == ")") --depth;
    if (depth != 0 || (word != ":=" && word != "=")) continue;
    sign = begin;
    value = end;
  }
  const std::size_t target = named(number_of(node, "varno"), assign.place);
  if (value == 0) findings_.fail(assign.place, "this assignment is not understood");
  if (findings_.failed()) return;
  if (frame_.named(target).is_record) {
    findings_.fail(assign.place,
                   fmt::format("the record '{}' is assigned as a whole", frame_.named(target).name),
                   "use SELECT … INTO");
    return;
  }
  const VarId var = frame_.named(target).var;
  const std::size_t offset = token ? text_.token(*token).begin : 0;
  const auto at = [&](std::size_t skipped) {
    return token ? text_.locator(offset + skipped, kSelect.size())
                 : Locator{.otherwise = assign.place};
  };
  const std::size_t bracket = query.find('[');
  const bool has_index = bracket < sign;
  if (has_index) {
    const Expr element = expression_at(to, query.substr(0, sign), at(0), assign);
    if (element.op == ExprOp::Element) {
      findings_.note(assign.place, "an array is taken to begin with 1 and to have no holes",
                     NoteKind::Gap);
      assign.index = element.args[1];
    } else {
      findings_.fail(assign.place, "this assignment to a part is not modelled", "as in a[i] := …");
    }
  }
  const Variable variable = frame_.variable(var);
  assign.expr = fitted(expression_at(to, query.substr(value), at(value), assign), variable.type,
                       variable.is_array && !has_index, fmt::format("'{}'", variable.name));
  assign.targets = {var};
  to.push_back(std::move(assign));
}

void PlpgsqlBody::add_if(Body& to, const Tree& node) {
  Statement branch = start(node, "IF", "THEN");
  branch.op = StatementOp::If;
  branch.expr = condition(to, child(node, "cond"), branch);
  add_all(branch.body, child(node, "then_body"));
  // Each ELSIF is an If alone in the other branch of the one before.
  std::vector<Statement> chain;
  chain.push_back(std::move(branch));
  std::vector<Body> ahead(1);
  const int branches = branches_;
  for (const Tree& entry : child(node, "elsif_list")) {
    const Tree& elsif = inside(entry);
    ++branches_;
    if (!fits(elsif)) break;
    Statement next = start(elsif, "ELSIF", "THEN");
    if (next.text.empty()) next = start(elsif, "ELSEIF", "THEN");
    next.op = StatementOp::If;
    ahead.emplace_back();
    next.expr = condition(ahead.back(), child(elsif, "cond"), next);
    add_all(next.body, child(elsif, "stmts"));
    chain.push_back(std::move(next));
  }
  add_all(chain.back().otherwise, child(node, "else_body"));
  branches_ = branches;
  for (std::size_t i = chain.size() - 1; i > 0; --i) {
    ahead[i].push_back(std::move(chain[i]));
    chain[i - 1].otherwise = std::move(ahead[i]);
  }
  to.push_back(std::move(chain.front()));
}

void PlpgsqlBody::add_case(Body& to, const Tree& node) {
  Statement head = start(node, "CASE", "WHEN");
  frame_.open_block("");
  if (has(node, "t_expr")) {
    Statement assign = head;
    assign.op = StatementOp::Assign;
    assign.expr = expression(to, child(node, "t_expr"), head);
    const auto datum = static_cast<std::size_t>(number_of(node, "t_varno"));
    const Tree& variable =
        datum < datums_.size() ? child(datums_[datum], "PLpgSQL_var") : no_tree();
    const std::size_t subject = frame_.add_named(
        text_of(variable, "refname"),
        {.type = assign.expr->type, .is_array = assign.expr->is_array}, catalog_, head.place);
    frame_.declare(subject);
    assign.targets = {frame_.named(subject).var};
    to.push_back(std::move(assign));
  }
  std::vector<Statement> chain;
  std::vector<Body> ahead;
  const int branches = branches_;
  for (const Tree& entry : child(node, "case_when_list")) {
    const Tree& when = inside(entry);
    ++branches_;
    if (!fits(when)) break;
    Statement next = start(when, "WHEN", "THEN");
    next.op = StatementOp::If;
    ahead.emplace_back();
    next.expr = condition(ahead.back(), child(when, "expr"), next);
    add_all(next.body, child(when, "stmts"));
    chain.push_back(std::move(next));
  }
  Body rest;
  if (flag_of(node, "have_else")) {
    add_all(rest, child(node, "else_stmts"));
  } else {
    Statement raise = head;  // no branch fits: an error of SQL
    raise.op = StatementOp::Raise;
    raise.sqlstate = "20000";
    rest.push_back(std::move(raise));
  }
  branches_ = branches;
  for (std::size_t i = chain.size(); i-- > 0;) {
    chain[i].otherwise = std::move(rest);
    rest = std::move(ahead[i]);
    rest.push_back(std::move(chain[i]));
  }
  std::ranges::move(rest, std::back_inserter(to));
  frame_.close_block();
}

PlpgsqlBody::Body PlpgsqlBody::loop_body(const Tree& node) {
  Body body;
  loops_.push_back({text_of(node, "label"), false});
  add_all(body, child(node, "body"));
  loops_.pop_back();
  return body;
}

void PlpgsqlBody::add_loop(Body& to, const Tree& node) {
  Statement loop = start(node, "LOOP", "LOOP");
  loop.text = "LOOP";
  loop.op = StatementOp::While;
  loop.body = loop_body(node);
  to.push_back(std::move(loop));
}

void PlpgsqlBody::add_while(Body& to, const Tree& node) {
  Statement loop = start(node, "WHILE", "LOOP");
  loop.op = StatementOp::While;
  Body before;
  Expr holds = condition(before, child(node, "cond"), loop);
  if (before.empty()) {
    loop.expr = std::move(holds);
  } else {
    // The subqueries are asked again in each round, which leaves the loop by itself.
    Statement leave{.op = StatementOp::Exit, .place = loop.place, .text = loop.text};
    leave.expr =
        make(ExprOp::If, Type::Boolean,
             {std::move(holds), make_boolean(false, loop.place), make_boolean(true, loop.place)},
             loop.place);
    loop.body = std::move(before);
    loop.body.push_back(std::move(leave));
  }
  Body body = loop_body(node);
  std::ranges::move(body, std::back_inserter(loop.body));
  to.push_back(std::move(loop));
}

void PlpgsqlBody::add_for_range(Body& to, const Tree& node) {
  Statement loop = start(node, "FOR", "LOOP");
  loop.op = StatementOp::ForRange;
  const auto bound = [&](const char* name) {
    return fitted(expression(to, child(node, name), loop), Type::Integer, false,
                  "the range of FOR");
  };
  loop.expr = bound("lower");
  loop.upper = bound("upper");
  if (has(node, "step")) loop.step = bound("step");
  loop.descending = flag_of(node, "reverse");
  const Tree& variable = child(child(node, "var"), "PLpgSQL_var");
  const std::string name = text_of(variable, "refname");
  frame_.open_block(text_of(node, "label"));
  const std::size_t index = frame_.add_named(name, {.type = Type::Integer}, catalog_, loop.place);
  frame_.declare(index);
  // The parser numbers the variable when it comes to the loop: the first of the name from here.
  for (std::size_t i = next_loop_; i < datums_.size(); ++i) {
    const Tree& datum = child(datums_[i], "PLpgSQL_var");
    if (named_.contains(i) || text_of(datum, "refname") != name ||
        line_of(datum) != line_of(variable))
      continue;
    named_[i] = index;
    next_loop_ = i + 1;
    break;
  }
  loop.targets = {frame_.named(index).var};
  loop.body = loop_body(node);
  frame_.close_block();
  to.push_back(std::move(loop));
}

void PlpgsqlBody::add_for_array(Body& to, const Tree& node) {
  Statement loop = start(node, "FOREACH", "LOOP");
  loop.op = StatementOp::ForArray;
  if (number_of(node, "slice") != 0) findings_.fail(loop.place, "FOREACH … SLICE is not modelled");
  const std::size_t target = named(number_of(node, "varno"), loop.place);
  if (findings_.failed()) return;
  if (frame_.named(target).is_record) {
    findings_.fail(loop.place, "a record cannot run through an array");
    return;
  }
  loop.targets = {frame_.named(target).var};
  const Variable variable = frame_.variable(loop.targets[0]);
  loop.expr = fitted(expression(to, child(node, "expr"), loop), variable.type, true, "FOREACH");
  loop.body = loop_body(node);
  to.push_back(std::move(loop));
}

void PlpgsqlBody::add_exit(Body& to, const Tree& node) {
  const bool is_exit = flag_of(node, "is_exit");
  Statement leave = start(node, is_exit ? "EXIT" : "CONTINUE");
  leave.op = is_exit ? StatementOp::Exit : StatementOp::Continue;
  const std::string label = text_of(node, "label");
  const auto level = std::find_if(loops_.rbegin(), loops_.rend(), [&](const Level& each) {
    return label.empty() ? !each.is_block : each.label == label;
  });
  if (level == loops_.rend() || (level->is_block && !is_exit))
    findings_.fail(leave.place, label.empty()
                                    ? "there is no loop around"
                                    : fmt::format("no loop around is called '{}'", label));
  leave.depth = static_cast<std::uint32_t>(level - loops_.rbegin());
  if (has(node, "cond")) leave.expr = condition(to, child(node, "cond"), leave);
  to.push_back(std::move(leave));
}

std::string PlpgsqlBody::raised_state(const Tree& node) const {
  if (const auto known = sqlstate_of(text_of(node, "condname"))) return *known;
  for (const Tree& entry : child(node, "options")) {
    const Tree& option = inside(entry);
    if (number_of(option, "opt_type") != 0) continue;  // ERRCODE
    std::string code = query_of(child(option, "expr"));
    std::erase(code, '\'');
    if (const auto known = sqlstate_of(code)) return *known;
    return code;
  }
  return "";
}

void PlpgsqlBody::add_raise(Body& to, const Tree& node) {
  Statement raise = start(node, "RAISE");
  if (number_of(node, "elog_level") < kRaiseError) return;  // tells somebody, does nothing
  raise.op = StatementOp::Raise;
  raise.sqlstate = raised_state(node);
  raise.again = !has(node, "message") && !has(node, "condname") && !has(node, "options");
  if (raise.again && num_handlers_ == 0)
    findings_.fail(raise.place, "RAISE alone stands outside of a handler");
  to.push_back(std::move(raise));
}

void PlpgsqlBody::add_assert(Body& to, const Tree& node) {
  Statement check = start(node, "ASSERT");
  check.op = StatementOp::If;
  check.expr = condition(to, child(node, "cond"), check);
  Statement raise = check;
  raise.op = StatementOp::Raise;
  raise.sqlstate = "P0004";
  raise.expr.reset();
  check.otherwise.push_back(std::move(raise));
  to.push_back(std::move(check));
}

std::vector<Statement> build_plpgsql(const FunctionHead& head, const Tree& tree, BodyText& text,
                                     Catalog& catalog, Frame& frame, Findings& findings) {
  std::vector<Statement> body;
  PlpgsqlBody(head, child(tree, "datums"), text, catalog, frame, findings)
      .add_statement(body, child(tree, "action"));
  return body;
}

}  // namespace isoscope::sql
