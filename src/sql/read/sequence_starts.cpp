// What a file does to its sequences outside of functions, in the order of the text.
#include <algorithm>

#include "sql/read/sequence_builder.h"
#include "sql/read/workload_reader.h"

namespace isoscope::sql {
namespace {

bool calls_sequences(const Tree& tree) {
  if (!tree.is_structured()) return false;
  if (has(tree, "FuncCall")) {
    const std::string name = last_name(child(child(tree, "FuncCall"), "funcname"));
    if (name == "setval" || name == "nextval") return true;
  }
  return std::ranges::any_of(tree, calls_sequences);
}

// Nothing but targets and tables.
bool has_targets_only(const Tree& select) {
  return !has(select, "whereClause") && !has(select, "groupClause") &&
         !has(select, "havingClause") && !has(select, "withClause") &&
         !has(select, "distinctClause") && !has(select, "limitCount") &&
         !has(select, "limitOffset") && !has(select, "larg") && !has(select, "valuesLists") &&
         child(select, "fromClause").size() <= 1;
}

std::optional<Value> written_constant(const Tree& constant) {
  if (flag_of(constant, "isnull")) return Value();
  if (has(constant, "ival")) return Value(number_of(child(constant, "ival"), "ival"));
  if (has(constant, "boolval")) return Value(flag_of(child(constant, "boolval"), "boolval"));
  return std::nullopt;
}

}  // namespace

void InitialRowReader::move_sequences(const std::string& kind, const Tree& node, Place place,
                                      Findings& findings) {
  if (kind == "AlterSeqStmt")
    return alter_sequence(text_of(child(node, "sequence"), "relname"), child(node, "options"));
  if (kind == "AlterTableStmt") {
    const auto table = catalog_.find_table(text_of(child(node, "relation"), "relname"));
    for (const Tree& entry : child(node, "cmds")) {
      const Tree& command = inside(entry);
      if (!table || text_of(command, "subtype") != "AT_SetIdentity") continue;
      const auto column = find_column(catalog_.table(*table), text_of(command, "name"));
      if (!column) continue;
      alter_sequence(catalog_.table(*table).columns[*column].sequence,
                     child(child(child(command, "def"), "List"), "items"));
    }
    return;
  }
  if (kind != "SelectStmt" || !calls_sequences(node)) return;
  const Tree& targets = child(node, "targetList");
  const Tree& from = child(node, "fromClause");
  const bool is_understood =
      has_targets_only(node) && std::ranges::all_of(targets, [&](const Tree& target) {
        const Tree& call = child(child(inside(target), "val"), "FuncCall");
        return call_sequence(call, from);
      });
  if (!is_understood)
    findings.note(place, "what this SELECT does to sequences is not understood", NoteKind::Free);
}

void InitialRowReader::alter_sequence(const std::string& name, const Tree& options) {
  const auto sequence = std::ranges::find(app_.sequences, name, &Sequence::name);
  if (sequence == app_.sequences.end()) return;
  std::int64_t& restart = restarts_[name];
  for (const Tree& option : options) {
    const Tree& element = child(option, "DefElem");
    if (text_of(element, "defname") == "start") restart = number_in(element).value_or(restart);
  }
  for (const Tree& option : options) {
    const Tree& element = child(option, "DefElem");
    if (text_of(element, "defname") == "restart")
      sequence->start = number_in(element).value_or(restart);
  }
}

// Is the call understood? Of the one that is, the sequence is set.
bool InitialRowReader::call_sequence(const Tree& call, const Tree& from) {
  const std::string function = last_name(child(call, "funcname"));
  const Tree& args = child(call, "args");
  if ((function != "setval" && function != "nextval") || args.empty()) return false;
  const std::string name = sequence_argument(catalog_, args[0]);
  const auto sequence = std::ranges::find(app_.sequences, name, &Sequence::name);
  if (sequence == app_.sequences.end()) return false;
  if (function == "nextval") {
    sequence->start += sequence->increment;
    return from.empty();
  }
  // An aggregate makes one row of the table.
  if (args.size() < 2 || args.size() > 3 || (!from.empty() && !computed(args[1], from)))
    return false;
  const auto value = computed(args[1], from);
  const auto is_called = args.size() == 3 ? computed(args[2], from) : Value(true);
  if (!value || !is_called) return false;
  const auto* number = std::get_if<std::int64_t>(&value->data);
  const auto* truth = std::get_if<bool>(&is_called->data);
  if (value->is_null() || is_called->is_null()) return true;  // it is strict
  if (number == nullptr || truth == nullptr) return false;
  sequence->start = *truth ? *number + sequence->increment : *number;
  return true;
}

// A number or a truth value; nothing if it is not understood. `from` has a table or nothing.
std::optional<Value> InitialRowReader::computed(const Tree& node, const Tree& from) const {
  const std::string kind = kind_of(node);
  const Tree& expr = inside(node);
  if (kind == "A_Const") return written_constant(expr);
  if (kind == "TypeCast") return computed(child(expr, "arg"), from);
  if (kind == "SubLink" && text_of(expr, "subLinkType") == "EXPR_SUBLINK")
    return computed_select(child(child(expr, "subselect"), "SelectStmt"));
  if (kind == "CoalesceExpr" || (kind == "MinMaxExpr" && text_of(expr, "op") == "IS_GREATEST")) {
    Value found;
    for (const Tree& arg : child(expr, "args")) {
      const auto value = computed(arg, from);
      if (!value) return std::nullopt;
      if (found.is_null() || (kind == "MinMaxExpr" && found < *value)) found = *value;
    }
    return found;
  }
  if (kind == "A_Expr" && has(expr, "lexpr")) {
    const auto left = computed(child(expr, "lexpr"), from);
    const auto right = computed(child(expr, "rexpr"), from);
    const std::string name = last_name(child(expr, "name"));
    if (!left || !right || (name != "+" && name != "-")) return std::nullopt;
    const auto* a = std::get_if<std::int64_t>(&left->data);
    const auto* b = std::get_if<std::int64_t>(&right->data);
    if (left->is_null() || right->is_null()) return Value();
    if (a == nullptr || b == nullptr) return std::nullopt;
    std::int64_t sum = 0;
    const bool is_over =
        name == "+" ? __builtin_add_overflow(*a, *b, &sum) : __builtin_sub_overflow(*a, *b, &sum);
    return is_over ? std::nullopt : std::optional(Value(sum));
  }
  if (kind != "FuncCall" || from.empty()) return std::nullopt;
  const auto table = catalog_.find_table(text_of(child(from[0], "RangeVar"), "relname"));
  const Tree& args = child(expr, "args");
  if (!table || last_name(child(expr, "funcname")) != "max" || args.size() != 1)
    return std::nullopt;
  const Tree& fields = child(child(args[0], "ColumnRef"), "fields");
  const auto column = find_column(catalog_.table(*table), last_name(fields));
  if (!column || has(expr, "agg_filter")) return std::nullopt;
  Value largest;
  for (const InitialRow& row : app_.initial_rows) {
    if (row.table == *table) largest = std::max(largest, row.values[*column]);
  }
  return largest;
}

// The one value of a query without conditions.
std::optional<Value> InitialRowReader::computed_select(const Tree& select) const {
  const Tree& targets = child(select, "targetList");
  if (!has_targets_only(select) || targets.size() != 1) return std::nullopt;
  return computed(child(inside(targets[0]), "val"), child(select, "fromClause"));
}

}  // namespace isoscope::sql
