// nextval, currval and lastval. A value is drawn by a statement of its own, before the one that
// uses it. What currval gives is known where a function has drawn: it is a variable that every
// draw sets, also those of functions that are called and of triggers.
#include "sql/read/sequence_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/read/query_parts.h"
#include "sql/statement_walk.h"

namespace isoscope::sql {
namespace {

constexpr std::string_view kAnySequence = "*";

VarId current_variable(Frame& frame, const std::string& sequence, Place place) {
  auto& variables = frame.function().variables;
  const auto known = std::ranges::find(variables, sequence, &Variable::current_of);
  if (known != variables.end()) return VarId{static_cast<std::uint32_t>(known - variables.begin())};
  const VarId var = frame.add_hidden("current", Type::Integer, false, place);
  variables[var.index].current_of = sequence;
  return var;
}

Expr draw(Scope& scope, const std::string& sequence, Place place) {
  Select select{.in_expression = true};
  select.draws = sequence_id(scope.catalog.sequences, sequence);
  const VarId var = scope.frame->add_hidden("drawn", Type::Integer, false, place);
  select.targets = {var};
  scope.before->push_back(model_in(scope, place).with(std::move(select)));
  return make_variable(*scope.frame, var, place);
}

// The value as it is now: a draw may follow in the same expression.
Expr current(Scope& scope, const std::string& sequence, Place place) {
  const VarId from = current_variable(*scope.frame, sequence, place);
  const VarId var = scope.frame->add_hidden("current", Type::Integer, false, place);
  scope.before->push_back(
      model_in(scope, place)
          .with(Assign{.target = var, .value = make_variable(*scope.frame, from, place)}));
  return make_variable(*scope.frame, var, place);
}

// Sets the variables of currval and lastval behind each draw of a function.
class CurrentValues {
 public:
  CurrentValues(const Application& app, std::span<const Trigger> triggers, Function& function,
                Findings& findings)
      : app_(app), triggers_(triggers), function_(function), findings_(findings), frame_(function) {
    for (std::uint32_t v = 0; v < function.variables.size(); ++v) {
      const std::string& sequence = function.variables[v].current_of;
      if (!sequence.empty()) currents_[sequence].push_back(VarId{v});
    }
  }

  bool run() {
    if (currents_.empty()) return false;
    follow(function_.body);
    for (const auto& [sequence, variables] : currents_) check(function_.body, variables, false);
    return true;
  }

 private:
  using Body = std::vector<Statement>;

  std::vector<VarId> set_by(SequenceId sequence) const {
    std::vector<VarId> all;
    for (const std::string& name :
         {app_.sequences[sequence.index].name, std::string(kAnySequence)}) {
      if (const auto found = currents_.find(name); found != currents_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    }
    return all;
  }

  void follow(Body& body) {
    Body followed;
    for (Statement& s : body) {
      for_each_body(s, [&](Body& inner) { follow(inner); });
      if (s.is<Insert>()) draw_defaults(followed, s);
      const auto sequence = s.draws();
      followed.push_back(std::move(s));
      if (sequence) set_currents(followed, *sequence);
    }
    body = std::move(followed);
  }

  // Behind a draw.
  void set_currents(Body& to, SequenceId sequence) {
    const Statement& drawn = to.back();
    const Place place = drawn.place;
    const VarId value = drawn.targets().front();
    for (const VarId current : set_by(sequence))
      to.push_back(
          {.place = place,
           .kind = Assign{.target = current, .value = make_variable(frame_, value, place)}});
  }

  // What an INSERT leaves to a sequence is drawn before it.
  void draw_defaults(Body& to, Statement& statement) {
    auto& insert = statement.as<Insert>();
    const Table& table = app_.table(insert.table);
    for (const ColumnId c : table.columns.ids()) {
      const Column& column = table.columns[c];
      if (!column.is_fresh || column.is_hidden ||
          std::ranges::find(insert.sets, c, &SetColumn::column) != insert.sets.end())
        continue;
      if (!column.drawn_from && currents_.contains(std::string(kAnySequence)))
        findings_.fail(statement.place,
                       fmt::format("lastval() where '{}' of '{}' is filled by several sequences",
                                   column.name, table.name));
      if (!column.drawn_from || set_by(*column.drawn_from).empty()) continue;
      if (is_triggered(insert.table))
        findings_.fail(
            statement.place,
            fmt::format(
                "currval or lastval where a BEFORE trigger of '{}' may draw behind its default",
                table.name),
            "RETURNING gives the value");
      Select select{.in_expression = true};
      select.draws = column.drawn_from;
      select.targets = {frame_.add_hidden("drawn", Type::Integer, false, statement.place)};
      Expr value = make_variable(frame_, select.targets.front(), statement.place);
      Statement drawn = statement.with(std::move(select));
      statement.continues = true;
      to.push_back(std::move(drawn));
      set_currents(to, *column.drawn_from);
      insert.sets.push_back({c, std::move(value)});
    }
  }
  bool is_triggered(TableId table) const {
    return std::ranges::any_of(triggers_, [&](const Trigger& trigger) {
      return trigger.table == table && trigger.is_before && trigger.on_insert;
    });
  }

  // Fails where a variable is used that some way there has not set. Returns whether every way
  // through has; one that leaves counts, and is told to what it leaves.
  bool check(std::span<const Statement> body, const std::vector<VarId>& currents, bool is_set) {
    for (const Statement& s : body) {
      if (const auto* assign = s.find<Assign>()) {
        const bool is_use = assign->value.op == ExprOp::Variable &&
                            std::ranges::find(currents, assign->value.var) != currents.end();
        if (is_use && !is_set)
          findings_.fail(s.place, "currval or lastval where the function may not have drawn before",
                         "what the session drew in earlier transactions is not modelled");
        is_set = is_set || std::ranges::find(currents, assign->target) != currents.end();
      } else if (s.is<If>()) {
        const bool then = check(s.body(), currents, is_set);
        const bool otherwise = check(s.otherwise(), currents, is_set);
        is_set = then && otherwise;
      } else if (s.is<Return>() || s.is<Raise>() || s.is<Continue>()) {
        if (!s.is<Continue>() || !s.as<Continue>().condition) return true;
      } else if (const auto* exit = s.find<Exit>()) {
        const std::size_t left = exits_set_.size() - 1 - exit->depth;
        exits_set_[left] = exits_set_[left] && is_set;
        if (!exit->condition) return true;
      } else if (s.is_loop() || s.is<Block>()) {
        exits_set_.push_back(true);
        const bool is_plain = s.is<Block>() && !s.catches();
        const bool within = check(s.body(), currents, is_set) && exits_set_.back();
        (void)check(s.otherwise(), currents, is_set);
        exits_set_.pop_back();
        is_set = is_set || (is_plain && within);
      }
    }
    return is_set;
  }

  const Application& app_;
  std::span<const Trigger> triggers_;
  Function& function_;
  Findings& findings_;
  Frame frame_;
  std::map<std::string, std::vector<VarId>> currents_;  // by sequence
  // By loop and block around, that all ways that leave it have set the variables.
  std::vector<bool> exits_set_;
};

}  // namespace

std::string sequence_in(const Catalog& catalog, const Tree& call) {
  const Tree& args = child(call, "args");
  if (!args.is_array() || args.size() != 1) return "";
  return sequence_argument(catalog, args[0]);
}

std::string sequence_argument(const Catalog& catalog, const Tree& given) {
  const Tree& cast = child(child(given, "TypeCast"), "arg");
  const Tree& argument = cast.is_null() ? given : cast;
  const Tree& of_column = child(argument, "FuncCall");
  if (last_name(child(of_column, "funcname")) != "pg_get_serial_sequence")
    return sequence_named(argument);
  const Tree& names = child(of_column, "args");
  if (names.size() != 2) return "";
  const auto table = catalog.find_table(sequence_named(names[0]));
  if (!table) return "";
  const std::string name = text_of(child(child(names[1], "A_Const"), "sval"), "sval");
  const auto column = find_column(catalog.table(*table), name);
  return column ? catalog.table(*table).columns[*column].sequence : "";
}

std::size_t find_sequences(const Catalog& catalog, const Tree& node, std::set<std::string>& names) {
  std::size_t count = 0;
  if (const Tree& call = child(node, "FuncCall"); !call.is_null()) {
    const std::string name = last_name(child(call, "funcname"));
    if (name == "nextval" || name == "currval") names.insert(sequence_in(catalog, call));
    if (name == "lastval") names.insert(std::string(kAnySequence));
    count = name == "nextval" || name == "currval" || name == "lastval" ? 1 : 0;
  }
  if (!node.is_structured()) return count;
  for (const Tree& part : node) count += find_sequences(catalog, part, names);
  return count;
}

std::optional<Expr> build_sequence_call(Scope& scope, const std::string& name, const Tree& call,
                                        Place place) {
  if (name != "nextval" && name != "currval" && name != "lastval") return std::nullopt;
  const std::string sequence =
      name == "lastval" ? std::string(kAnySequence) : sequence_in(scope.catalog, call);
  if (sequence.empty()) {
    scope.findings.fail(place, fmt::format("{} of a sequence that is computed", name),
                        "a name in quotes can be modelled");
    return make_null(Type::Integer, place);
  }
  if (!stands_alone(scope, name, {}, place)) return make_null(Type::Integer, place);
  return name == "nextval" ? draw(scope, sequence, place) : current(scope, sequence, place);
}

bool follow_current_values(const Application& app, std::span<const Trigger> triggers,
                           Function& function, Findings& findings) {
  return CurrentValues(app, triggers, function, findings).run();
}

}  // namespace isoscope::sql
