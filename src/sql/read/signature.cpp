#include "sql/read/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace isoscope::sql {

const Tree& find_option(const Tree& node, std::string_view name) {
  for (const Tree& entry : child(node, "options")) {
    if (text_of(inside(entry), "defname") == name) return inside(entry);
  }
  return no_tree();
}

std::string setting_that_matters(const Tree& option) {
  constexpr std::string_view kHarmless[] = {"search_path", "client_min_messages", "work_mem",
                                            "application_name", "timezone"};
  if (text_of(option, "defname") != "set") return {};
  std::string name = text_of(child(child(option, "arg"), "VariableSetStmt"), "name");
  if (std::ranges::find(kHarmless, name) != std::end(kHarmless)) return {};
  return name.starts_with("enable_") ? std::string{} : name;
}

namespace {

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
        head.is_procedure && find_option(node_, "set").is_null() &&
        !flag_of(child(child(find_option(node_, "security"), "arg"), "Boolean"), "boolval");
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
    note_default(child(parameter, "defexpr"), place);
    std::string name = text_of(parameter, "name");
    if (name.empty()) name = fmt::format("${}", position + 1);
    return frame.add_named(name, type, catalog_, place);
  }

  // The default is computed by the statement that calls the function, before the function begins.
  void note_default(const Tree& value, Place place) {
    if (!calls_functions(value)) return;
    findings_.note(place, "a call in the default of a parameter is not modelled", NoteKind::Gap);
  }
  bool calls_functions(const Tree& tree) const {
    if (!tree.is_structured()) return false;
    const std::string called = last_name(child(child(tree, "FuncCall"), "funcname"));
    if (catalog_.functions.contains(called)) return true;
    return std::ranges::any_of(tree, [&](const Tree& part) { return calls_functions(part); });
  }

  const Tree& node_;
  const Locator& where_;
  Catalog& catalog_;
  Findings& findings_;
  const FiredTrigger* fired_;
};

}  // namespace

void read_signature(const Tree& node, const Locator& where, Catalog& catalog, Findings& findings,
                    const FiredTrigger* fired, Frame& frame, FunctionHead& head) {
  Signature signature(node, where, catalog, findings, fired);
  signature.declare(frame, head);
  signature.set_result(frame, head);
  signature.note_settings();
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

}  // namespace isoscope::sql
