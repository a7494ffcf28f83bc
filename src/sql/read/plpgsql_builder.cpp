#include "sql/read/plpgsql_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/read/inliner.h"
#include "sql/read/plpgsql_body.h"
#include "sql/sqlstates.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

constexpr std::int64_t kRaiseError = 21;  // PostgreSQL's number for ERROR
// The numbers of options of RAISE.
constexpr std::int64_t kErrcodeOption = 0;
constexpr std::int64_t kMessageOption = 1;
constexpr int kMaxStatementLevels = 150;  // statements in each other
// Branches of IF and CASE, each of which stands in the ones before it.
constexpr int kMaxBranchLevels = 1000;

bool is_text_constant(const std::string& query) {
  return query.size() >= 2 && query.front() == '\'' && query.find('\'', 1) == query.size() - 1;
}

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
  if (kind == "PLpgSQL_stmt_commit") return add_end(to, node, true);
  if (kind == "PLpgSQL_stmt_rollback") return add_end(to, node, false);
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
  Statement model;
  model.place = token ? text_.place_of_token(*token) : text_.place_of_line(line_of(node));
  if (token) model.text = text_.text_from(*token, ";");
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
  const std::size_t target = named(number_of(node, "varno"), model.place);
  if (value == 0) findings_.fail(model.place, "this assignment is not understood");
  if (findings_.failed()) return;
  if (frame_.named(target).is_record) {
    findings_.fail(model.place,
                   fmt::format("the record '{}' is assigned as a whole", frame_.named(target).name),
                   "use SELECT … INTO");
    return;
  }
  const VarId var = frame_.named(target).var;
  const std::size_t offset = token ? text_.token(*token).begin : 0;
  const auto at = [&](std::size_t skipped) {
    return token ? text_.locator(offset + skipped, kSelect.size())
                 : Locator{.otherwise = model.place};
  };
  const std::size_t bracket = query.find('[');
  const bool has_index = bracket < sign;
  std::vector<VarId> targets = {var};
  Body guard = guard_targets(targets, model);
  Assign assign{.target = targets.front()};
  if (has_index) {
    const Expr element = expression_at(to, query.substr(0, sign), at(0), model);
    if (element.op == ExprOp::Element) {
      findings_.note(model.place, "an array is taken to begin with 1 and to have no holes",
                     NoteKind::Gap);
      assign.index = element.args[1];
    } else {
      findings_.fail(model.place, "this assignment to a part is not modelled", "as in a[i] := …");
    }
  }
  const Variable variable = frame_.variable(var);
  assign.value =
      fitted(expression_at(to, query.substr(value), at(value), model), variable.type,
             variable.is_array && !has_index, fmt::format("'{}'", variable.name), variable.width);
  to.push_back(model.with(std::move(assign)));
  std::ranges::move(guard, std::back_inserter(to));
}

void PlpgsqlBody::add_if(Body& to, const Tree& node) {
  // Each ELSIF is an If alone in the other branch of the one before.
  std::vector<Statement> chain;
  chain.push_back(
      test_of(start(node, "IF", "THEN"), to, child(node, "cond"), child(node, "then_body")));
  std::vector<Body> ahead(1);
  const int branches = branches_;
  for (const Tree& entry : child(node, "elsif_list")) {
    const Tree& elsif = inside(entry);
    ++branches_;
    if (!fits(elsif)) break;
    Statement next = start(elsif, "ELSIF", "THEN");
    if (next.text.empty()) next = start(elsif, "ELSEIF", "THEN");
    ahead.emplace_back();
    chain.push_back(test_of(next, ahead.back(), child(elsif, "cond"), child(elsif, "stmts")));
  }
  add_all(chain.back().as<If>().otherwise, child(node, "else_body"));
  branches_ = branches;
  for (std::size_t i = chain.size() - 1; i > 0; --i) {
    ahead[i].push_back(std::move(chain[i]));
    chain[i - 1].as<If>().otherwise = std::move(ahead[i]);
  }
  to.push_back(std::move(chain.front()));
}

Statement PlpgsqlBody::test_of(const Statement& model, Body& ahead, const Tree& cond,
                               const Tree& body) {
  If test{.condition = condition(ahead, cond, model), .body = {}, .otherwise = {}};
  add_all(test.body, body);
  return model.with(std::move(test));
}

void PlpgsqlBody::add_case(Body& to, const Tree& node) {
  const Statement head = start(node, "CASE", "WHEN");
  frame_.open_block("");
  if (has(node, "t_expr")) {
    Expr value = expression(to, child(node, "t_expr"), head);
    const auto datum = static_cast<std::size_t>(number_of(node, "t_varno"));
    const Tree& variable =
        datum < datums_.size() ? child(datums_[datum], "PLpgSQL_var") : no_tree();
    const std::size_t subject = frame_.add_named(
        text_of(variable, "refname"),
        {.type = value.type, .width = {.bits = value.bits}, .is_array = value.is_array}, catalog_,
        head.place);
    frame_.declare(subject);
    to.push_back(head.with(Assign{.target = frame_.named(subject).var, .value = std::move(value)}));
  }
  std::vector<Statement> chain;
  std::vector<Body> ahead;
  const int branches = branches_;
  for (const Tree& entry : child(node, "case_when_list")) {
    const Tree& when = inside(entry);
    ++branches_;
    if (!fits(when)) break;
    ahead.emplace_back();
    chain.push_back(test_of(start(when, "WHEN", "THEN"), ahead.back(), child(when, "expr"),
                            child(when, "stmts")));
  }
  Body rest;
  if (flag_of(node, "have_else")) {
    add_all(rest, child(node, "else_stmts"));
  } else {
    rest.push_back(head.with(Raise{.sqlstate = "20000"}));  // no branch fits: an error of SQL
  }
  branches_ = branches;
  for (std::size_t i = chain.size(); i-- > 0;) {
    chain[i].as<If>().otherwise = std::move(rest);
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
  to.push_back(loop.with(While{.body = loop_body(node)}));
}

void PlpgsqlBody::add_while(Body& to, const Tree& node) {
  const Statement model = start(node, "WHILE", "LOOP");
  const Place place = model.place;
  While loop;
  Body before;
  Expr holds = condition(before, child(node, "cond"), model);
  if (before.empty()) {
    loop.condition = std::move(holds);
  } else {
    // The subqueries are asked again in each round, which leaves the loop by itself.
    Exit leave;
    leave.condition =
        make(ExprOp::If, Type::Boolean,
             {std::move(holds), make_boolean(false, place), make_boolean(true, place)}, place);
    loop.body = std::move(before);
    loop.body.push_back(model.with(std::move(leave)));
  }
  Body body = loop_body(node);
  std::ranges::move(body, std::back_inserter(loop.body));
  to.push_back(model.with(std::move(loop)));
}

void PlpgsqlBody::add_for_range(Body& to, const Tree& node) {
  const Statement model = start(node, "FOR", "LOOP");
  ForRange loop;
  const auto bound = [&](const char* name) {
    return fitted(expression(to, child(node, name), model), Type::Integer, false,
                  "the range of FOR");
  };
  loop.from = bound("lower");
  loop.to = bound("upper");
  if (has(node, "step")) loop.step = bound("step");
  loop.descending = flag_of(node, "reverse");
  const Tree& variable = child(child(node, "var"), "PLpgSQL_var");
  const std::string name = text_of(variable, "refname");
  frame_.open_block(text_of(node, "label"));
  const DeclaredType integer{.type = Type::Integer, .width = {.bits = 32}};
  const std::size_t index = frame_.add_named(name, integer, catalog_, model.place);
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
  loop.target = frame_.named(index).var;
  loop.body = loop_body(node);
  frame_.close_block();
  to.push_back(model.with(std::move(loop)));
}

void PlpgsqlBody::add_for_array(Body& to, const Tree& node) {
  const Statement model = start(node, "FOREACH", "LOOP");
  if (number_of(node, "slice") != 0) findings_.fail(model.place, "FOREACH … SLICE is not modelled");
  const std::size_t target = named(number_of(node, "varno"), model.place);
  if (findings_.failed()) return;
  if (frame_.named(target).is_record) {
    findings_.fail(model.place, "a record cannot run through an array");
    return;
  }
  ForArray loop{.target = frame_.named(target).var, .array = {}, .body = {}};
  const Variable variable = frame_.variable(loop.target);
  loop.array = fitted(expression(to, child(node, "expr"), model), variable.type, true, "FOREACH");
  if (variable.type == Type::Numeric && variable.width.bits != kAnyScale)
    findings_.note(model.place, "that FOREACH rounds its elements is not in the formulas",
                   NoteKind::Gap);
  std::vector<VarId> targets = {loop.target};
  loop.body = guard_targets(targets, model);
  loop.target = targets.front();
  std::ranges::move(loop_body(node), std::back_inserter(loop.body));
  to.push_back(model.with(std::move(loop)));
}

void PlpgsqlBody::add_exit(Body& to, const Tree& node) {
  const bool is_exit = flag_of(node, "is_exit");
  const Statement model = start(node, is_exit ? "EXIT" : "CONTINUE");
  const std::string label = text_of(node, "label");
  const auto level = std::find_if(loops_.rbegin(), loops_.rend(), [&](const Level& each) {
    return label.empty() ? !each.is_block : each.label == label;
  });
  if (level == loops_.rend() || (level->is_block && !is_exit))
    findings_.fail(model.place, label.empty()
                                    ? "there is no loop around"
                                    : fmt::format("no loop around is called '{}'", label));
  Jump jump{.depth = static_cast<std::uint32_t>(level - loops_.rbegin())};
  if (has(node, "cond")) jump.condition = condition(to, child(node, "cond"), model);
  if (is_exit) {
    to.push_back(model.with(Exit{std::move(jump)}));
  } else {
    to.push_back(model.with(Continue{std::move(jump)}));
  }
}

void PlpgsqlBody::check_options(const Tree& node, Place place) {
  std::set<std::int64_t> given;
  if (has(node, "condname")) given.insert(kErrcodeOption);
  if (has(node, "message")) given.insert(kMessageOption);
  for (const Tree& entry : child(node, "options")) {
    if (!given.insert(number_of(inside(entry), "opt_type")).second)
      findings_.fail(place, "this RAISE says something twice, which the server refuses (42601)");
  }
}

std::string PlpgsqlBody::raised_state(const Tree& node, Place place) {
  if (const auto known = sqlstate_of(text_of(node, "condname"))) return *known;
  for (const Tree& entry : child(node, "options")) {
    const Tree& option = inside(entry);
    if (number_of(option, "opt_type") != kErrcodeOption) continue;
    const std::string code = query_of(child(option, "expr"));
    if (!is_text_constant(code)) {
      findings_.note(place, "a computed ERRCODE is taken for P0001", NoteKind::Gap);
      return "";
    }
    const auto known = sqlstate_of(code.substr(1, code.size() - 2));
    if (!known)
      findings_.fail(place, fmt::format("the condition {} is not known (42704)", code),
                     "conditions have the names of PostgreSQL, or five digits and capital letters");
    return known.value_or("");
  }
  return "";
}

namespace {

// What RAISE says, if that is a text without values.
std::optional<std::string> raised_message(const Tree& node) {
  const std::string text = text_of(node, "message");
  if (text.empty() || text.find('%') != std::string::npos) return std::nullopt;
  for (const Tree& entry : child(node, "options")) {
    if (number_of(inside(entry), "opt_type") == kMessageOption) return std::nullopt;
  }
  return text;
}

}  // namespace

std::optional<Expr> PlpgsqlBody::add_effects(Body& to, const Tree& expr, const Statement& around) {
  const std::string query = query_of(expr);
  const NamedVariable* named = frame_.find(lower_case(query));
  if (named != nullptr && named->is_record) return std::nullopt;  // the value of a record
  Findings before = findings_;
  Body asked;
  Expr value = expression(asked, expr, around);
  if (findings_.failed()) {
    const std::string why = findings_.error().what;
    findings_ = std::move(before);
    // Names alone neither do anything nor fail.
    if (query.find_first_of("(/%:") != std::string::npos)
      findings_.note(around.place, fmt::format("'{}' is not evaluated here: {}", query, why),
                     NoteKind::Gap);
    return std::nullopt;
  }
  if (asked.empty() && !can_fail(value)) {
    findings_ = std::move(before);
    return value;
  }
  std::ranges::move(asked, std::back_inserter(to));
  if (!can_fail(value)) return value;
  const VarId told =
      frame_.add_hidden("told", value.type, value.is_array, around.place, value.bits);
  to.push_back(around.with(Assign{.target = told, .value = std::move(value)}));
  return make_variable(frame_, told, around.place);
}

void PlpgsqlBody::add_raise(Body& to, const Tree& node) {
  const Statement model = start(node, "RAISE");
  check_options(node, model.place);
  // What is told is computed in any case.
  for (const Tree& param : child(node, "params")) (void)add_effects(to, param, model);
  for (const Tree& entry : child(node, "options")) {
    const Tree& expr = child(inside(entry), "expr");
    if (is_text_constant(query_of(expr))) continue;
    const auto value = add_effects(to, expr, model);
    if (!value) continue;
    If test{.condition = make(ExprOp::IsNull, Type::Boolean, {*value}, model.place),
            .body = {},
            .otherwise = {}};
    test.body.push_back(model.with(Raise{.sqlstate = "22004"}));
    to.push_back(model.with(std::move(test)));
  }
  std::string state = raised_state(node, model.place);
  if (number_of(node, "elog_level") < kRaiseError) return;  // a message
  Raise raise{.sqlstate = std::move(state),
              .again = !has(node, "message") && !has(node, "condname") && !has(node, "options"),
              .message = raised_message(node)};
  if (raise.again && num_handlers_ == 0)
    findings_.fail(model.place, "RAISE alone stands outside of a handler");
  to.push_back(model.with(std::move(raise)));
}

// AND CHAIN keeps what SET TRANSACTION said, which no body that is modelled does.
void PlpgsqlBody::add_end(Body& to, const Tree& node, bool commits) {
  const std::string_view word = commits ? "COMMIT" : "ROLLBACK";
  const Statement model = start(node, word);
  if (!frame_.function().may_end)
    findings_.fail(
        model.place,
        fmt::format("{} in a {} fails on the server (2D000)", word,
                    head_.is_procedure ? "procedure with SET or SECURITY DEFINER" : "function"),
        head_.is_procedure ? "" : "a procedure may end its transaction");
  if (frame_.num_writing_loops > 0)
    findings_.fail(model.place,
                   fmt::format("{} in a loop over rows of a statement that writes fails on the "
                               "server (2D000)",
                               word));
  to.push_back(model.with(EndTransaction{.commits = commits}));
}

void PlpgsqlBody::add_assert(Body& to, const Tree& node) {
  const Statement model = start(node, "ASSERT");
  If check{.condition = condition(to, child(node, "cond"), model), .body = {}, .otherwise = {}};
  if (has(node, "message")) (void)add_effects(check.otherwise, child(node, "message"), model);
  check.otherwise.push_back(model.with(Raise{.sqlstate = "P0004"}));
  to.push_back(model.with(std::move(check)));
}

std::vector<Statement> build_plpgsql(const FunctionHead& head, const Tree& tree, BodyText& text,
                                     Catalog& catalog, Frame& frame, Findings& findings) {
  std::vector<Statement> body;
  PlpgsqlBody(head, child(tree, "datums"), text, catalog, frame, findings)
      .add_statement(body, child(tree, "action"));
  return body;
}

}  // namespace isoscope::sql
