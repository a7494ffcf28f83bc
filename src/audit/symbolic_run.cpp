// Runs a function on symbols: variables are terms, branches are conditions, and every access to the
// database is written down with the condition under which it happens.
//
// After an IF, a variable is "one or the other" (choose). A RETURN, a RAISE or an EXIT makes the
// rest happen only if it was not taken. Loops follow instance.h. The result is data (access.h).
#include <algorithm>

#include "audit/symbolic_select.h"
#include "audit/symbolic_write.h"
#include "sql/statement_walk.h"
#include "support/assert.h"

namespace isoscope::audit {

namespace {

bool leaves(std::span<const sql::Statement> body) {
  return std::ranges::any_of(body, [](const sql::Statement& statement) {
    return statement.is<sql::Return>() || statement.is<sql::Exit>() || leaves(statement.body()) ||
           leaves(statement.otherwise());
  });
}

}  // namespace

// Control flow.
class SymbolicRun : private SymbolicPart {
 public:
  explicit SymbolicRun(SymbolicCall& call)
      : SymbolicPart(call), variables_(call), select_(call), write_(call) {}

  void run();

 private:
  // A loop over numbers: FOR, or FOREACH over the indexes of an array.
  struct Counting {
    sql::VarId target;
    SymValue from;
    SymValue to;
    SmtTerm width;
    bool descending = false;
    std::optional<SymArray> list = {};
  };
  void run(std::span<const sql::Statement> body);
  void run(const sql::Statement& statement);
  void branch(const sql::If& statement);
  void block(const sql::Block& statement);
  void jump(const sql::Jump& statement, SmtTerm SymbolicCall::Exits::*where);
  void loop(const sql::Statement& statement);
  // Both return whether there was a round.
  SmtTerm loop_any_two(const sql::Statement& statement);
  SmtTerm loop_at_most_two(const sql::Statement& statement);
  std::vector<Round> rounds_of(const sql::Statement& statement);
  std::vector<Round> rounds_of_while();
  std::vector<Round> rounds_of_numbers(const Counting& counting);
  // Other rounds may have written what the body writes.
  void disturb(std::span<const sql::Statement> body);

  SymbolicVariables variables_;
  SymbolicSelect select_;
  SymbolicWrite write_;
};

void SymbolicRun::run() {
  variables_.declare();
  run(call_.function.body);
  instance_.committed = !call_.aborted;
}

std::unique_ptr<Instance> make_instance(Symbols& symbols, sql::FunctionId function,
                                        std::string name, InstanceRules rules) {
  auto instance = std::make_unique<Instance>(symbols, function, std::move(name), rules);
  SymbolicCall call(symbols, *instance);
  SymbolicRun(call).run();
  return instance;
}

void SymbolicRun::run(std::span<const sql::Statement> body) {
  for (const sql::Statement& statement : body) run(statement);
}

void SymbolicRun::run(const sql::Statement& statement) {
  call_.begin(statement);
  std::visit(sql::Overloaded{
                 [&](const sql::Select& kind) { select_.run(kind); },
                 [&](const sql::Insert& kind) { write_.run(kind); },
                 [&](const sql::Update& kind) { write_.run(kind); },
                 [&](const sql::Delete& kind) { write_.run(kind); },
                 [&](const sql::Assign& kind) { variables_.assign(kind); },
                 [&](const sql::If& kind) { branch(kind); },
                 [&](const sql::ForQuery&) { loop(statement); },
                 [&](const sql::ForRange&) { loop(statement); },
                 [&](const sql::ForArray&) { loop(statement); },
                 [&](const sql::While&) { loop(statement); },
                 [&](const sql::Exit& kind) { jump(kind, &SymbolicCall::Exits::exited); },
                 [&](const sql::Continue& kind) { jump(kind, &SymbolicCall::Exits::continued); },
                 [&](const sql::Return&) { call_.alive = symbols_.no(); },
                 [](const sql::ReturnRow&) {},
                 [&](const sql::Raise&) { call_.abort_if(call_.alive); },
                 // audit leaves out who has one, or cuts it there.
                 [](const sql::EndTransaction&) { ISO_ASSERT(false); },
                 [&](const sql::Append& kind) {
                   std::vector<SymValue> values;
                   for (const sql::Expr& expr : kind.values)
                     values.push_back(terms_.eval(expr, call_.here()));
                   variables_.append_row(kind.rows, call_.alive, std::move(values));
                 },
                 [&](const sql::Block& kind) { block(kind); },
             },
             statement.kind);
}

void SymbolicRun::jump(const sql::Jump& statement, SmtTerm SymbolicCall::Exits::*where) {
  const SmtTerm taken = call_.alive && terms_.is_true(statement.condition, call_.here());
  ISO_ASSERT(statement.depth < call_.exits.size());
  SymbolicCall::Exits& frame = call_.exits[call_.exits.size() - 1 - statement.depth];
  frame.*where = frame.*where || taken;
  call_.alive = call_.alive && !taken;
}

// Of an EXCEPTION block the formulas know only how it goes if nothing fails (model_notes.h).
void SymbolicRun::block(const sql::Block& statement) {
  call_.exits.push_back({symbols_.no(), symbols_.no()});
  run(statement.body);
  call_.alive = call_.alive || call_.exits.back().exited;
  call_.exits.pop_back();
}

void SymbolicRun::branch(const sql::If& first) {
  // What the branches leave, first to last; chains of ELSIF are long, so there is no recursion.
  struct Taken {
    SmtTerm condition;
    Env after;
    SmtTerm alive;
  };
  std::vector<Taken> taken;
  for (const sql::If* statement = &first; statement != nullptr;) {
    const SmtTerm condition = terms_.is_true(statement->condition, call_.here());
    const Env before = call_.env;
    const SmtTerm alive = call_.alive;
    call_.alive = alive && condition;
    run(statement->body);
    taken.push_back({condition, std::move(call_.env), call_.alive});
    call_.env = before;
    call_.alive = alive && !condition;
    const sql::Statement* next = next_branch(*statement);
    run({statement->otherwise.data(), statement->otherwise.size() - (next == nullptr ? 0 : 1)});
    if (next != nullptr) call_.begin(*next);
    statement = next != nullptr ? &next->as<sql::If>() : nullptr;
  }
  for (auto branch = taken.rbegin(); branch != taken.rend(); ++branch) {
    call_.env = variables_.merge(branch->condition, branch->after, call_.env);
    call_.alive = branch->alive || call_.alive;
  }
}

void SymbolicRun::disturb(std::span<const sql::Statement> body) {
  for (const sql::Statement& statement : body) {
    if (const sql::Write* write = statement.write()) {
      const sql::TableId table = write->table;
      const sql::Table& declared = symbols_.app().table(table);
      for (const sql::UniqueId u : declared.unique.ids())
        call_.disturbed.insert({table, Attribute::entry(u)});
      if (!statement.is<sql::Update>()) call_.disturbed.insert({table, kPresence});
      if (statement.is<sql::Insert>()) {
        for (const sql::ColumnId column : declared.columns.ids())
          call_.disturbed.insert({table, Attribute(column)});
      }
      if (const auto* update = statement.find<sql::Update>()) {
        for (const sql::SetColumn& set : update->sets)
          call_.disturbed.insert({table, Attribute(set.column)});
      }
    }
    disturb(statement.body());
    disturb(statement.otherwise());
  }
}

void SymbolicRun::loop(const sql::Statement& statement) {
  call_.exits.push_back({symbols_.no(), symbols_.no()});
  const SmtTerm alive = call_.alive;
  const std::size_t first_access = instance_.accesses.size();
  const SmtTerm had_round =
      call_.loops == Loops::AnyTwo ? loop_any_two(statement) : loop_at_most_two(statement);
  // Rows are fetched, and locked, while the loop runs.
  if (call_.per_statement && call_.loops == Loops::AnyTwo && statement.is<sql::ForQuery>()) {
    for (std::size_t i = first_access; i < instance_.accesses.size(); ++i) {
      Access& access = instance_.accesses[i];
      if (access.kind != AccessKind::Lock || access.statement != statement.number) continue;
      access.step = call_.moments.check_moment();
    }
  }
  call_.exits.pop_back();
  // FOUND says after a loop over something whether there was a round.
  if (!call_.function.found || statement.is<sql::While>()) return;
  SymValue& found = call_.env[call_.function.found->index].value;
  found = symbols_.choose_value(alive, symbols_.truth(had_round), found);
}

SmtTerm SymbolicRun::loop_any_two(const sql::Statement& statement) {
  const auto* while_loop = statement.find<sql::While>();
  disturb(statement.body());
  variables_.forget(statement.body());
  const SmtTerm alive = call_.alive;
  SmtTerm goes_on = alive;
  for (const Round& round : rounds_of(statement)) {
    for (const auto& [var, value] : round.targets) variables_.set(var, value);
    SmtTerm active = round.active;
    if (while_loop != nullptr)
      active = active && terms_.is_true(while_loop->condition, call_.here());
    call_.alive = alive && active;
    call_.exits.back() = {symbols_.no(), symbols_.no()};
    run(statement.body());
    // A round that left the function, or the loop, is the last one.
    const SmtTerm left = alive && active && !call_.alive && !call_.exits.back().continued &&
                         !call_.exits.back().exited;
    goes_on = goes_on && !left;
    variables_.forget(statement.body());
    for (const sql::VarId target : statement.targets())
      variables_.set(target, symbols_.fresh_value("after_loop", true));
  }
  call_.alive = goes_on;
  if (leaves(statement.body())) call_.alive = call_.alive && symbols_.fresh_truth("loop_ended");
  return symbols_.fresh_truth("had_round");
}

SmtTerm SymbolicRun::loop_at_most_two(const sql::Statement& statement) {
  const auto* while_loop = statement.find<sql::While>();
  const std::vector<Round> rounds = rounds_of(statement);
  for (const Round& round : rounds) {
    const Env before = call_.env;
    const SmtTerm alive = call_.alive;
    SmtTerm active = round.active;
    for (const auto& [var, value] : round.targets) variables_.set(var, value);
    if (while_loop != nullptr)
      active = active && terms_.is_true(while_loop->condition, call_.here());
    call_.alive = alive && active;
    call_.exits.back().continued = symbols_.no();
    run(statement.body());
    call_.env = variables_.merge(alive && active, call_.env, before);
    call_.alive = call_.alive || call_.exits.back().continued || (alive && !active);
  }
  if (while_loop != nullptr) {
    // A third round does not happen.
    instance_.facts.push_back(
        implies(call_.alive, !terms_.is_true(while_loop->condition, call_.here())));
  }
  call_.alive = call_.alive || call_.exits.back().exited;
  std::vector<SmtTerm> active;
  for (const Round& round : rounds) active.push_back(round.active);
  const SmtTerm had_round = symbols_.any(active);
  if (!statement.is<sql::ForQuery>()) return had_round;
  for (const sql::VarId target : statement.targets()) {
    if (call_.env[target.index].array) continue;
    SymValue& value = call_.env[target.index].value;
    value = symbols_.choose_value(had_round, value, symbols_.null());
  }
  return had_round;
}

std::vector<Round> SymbolicRun::rounds_of(const sql::Statement& statement) {
  if (const auto* loop = statement.find<sql::ForQuery>()) return select_.rounds_of(*loop);
  if (statement.is<sql::While>()) return rounds_of_while();
  const Frame frame = call_.here();
  const SmtTerm one = symbols_.smt().number(1);
  if (const auto* loop = statement.find<sql::ForArray>()) {
    const SymArray list = terms_.array(loop->array, frame);
    return rounds_of_numbers({.target = loop->target,
                              .from = symbols_.number(1),
                              .to = {symbols_.no(), list.size},
                              .width = one,
                              .list = list});
  }
  const auto& loop = statement.as<sql::ForRange>();
  Counting counting{.target = loop.target,
                    .from = terms_.eval(loop.from, frame),
                    .to = terms_.eval(loop.to, frame),
                    .width = one,
                    .descending = loop.descending};
  if (loop.descending) std::swap(counting.from, counting.to);
  if (loop.step) counting.width = terms_.eval(*loop.step, frame).number;
  return rounds_of_numbers(counting);
}

std::vector<Round> SymbolicRun::rounds_of_while() {
  std::vector<Round> rounds;
  for (int i = 0; i < 2; ++i)
    rounds.push_back(
        {call_.loops == Loops::AnyTwo ? symbols_.fresh_truth("round") : symbols_.yes(), {}});
  return rounds;
}

std::vector<Round> SymbolicRun::rounds_of_numbers(const Counting& counting) {
  const auto& [target, from, to, width, descending, list] = counting;
  std::vector<Round> rounds;
  const bool is_any = call_.loops == Loops::AnyTwo;
  SmtTerm last = from.number;
  for (int i = 0; i < 2; ++i) {
    SmtTerm number = from.number;
    if (is_any) {
      number = symbols_.fresh_number("i");
      if (i > 0) instance_.facts.push_back(descending ? number < last : last < number);
    } else if (i > 0) {
      number = descending ? last - width : last + width;
    } else if (descending) {
      number = to.number;
    }
    SmtTerm active = from.number <= number && number <= to.number && !from.null && !to.null;
    if (is_any) active = active && symbols_.fresh_truth("round");
    Round round{active, {}};
    const SymValue value =
        list ? terms_.element_of(*list, number) : SymValue{symbols_.no(), number};
    round.targets.emplace_back(target, value);
    rounds.push_back(std::move(round));
    last = number;
  }
  if (!is_any) {
    // A third round does not happen.
    instance_.facts.push_back(implies(call_.alive, symbols_.smt().number(1) <= width));
    instance_.facts.push_back(implies(call_.alive, to.number - from.number < width + width));
  }
  return rounds;
}

}  // namespace isoscope::audit
