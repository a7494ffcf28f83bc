#include "record/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "record/splicing.h"
#include "record/words.h"
#include "sql/read/pg_parse.h"

namespace isoscope::record {
namespace {

using sql::child;
using sql::has;
using sql::kind_of;
using sql::Tree;

bool is_empty(const Tree& node) { return node.is_null() || (node.is_array() && node.empty()); }

// What an expression or a clause mentions.
struct Mentioned {
  std::set<std::string> columns;
  std::set<std::string> functions;
  Implied implied;
  bool all_columns = false;
  std::string foreign;  // something that may read elsewhere
  bool has_default = false;
};

// In VALUES, DEFAULT means something that it does not mean in SELECT, and calls of aggregates and
// of functions that return sets are errors: only calls that are known to be neither are let
// through.
bool may_be_selected(const Mentioned& values) {
  static const std::set<std::string> kPlain = {
      "now",   "nextval", "currval", "random", "gen_random_uuid",    "clock_timestamp",
      "lower", "upper",   "md5",     "length", "statement_timestamp"};
  return !values.has_default && std::ranges::includes(kPlain, values.functions);
}

void mention_column(const Tree& reference, Mentioned& found) {
  const Tree& fields = child(reference, "fields");
  if (!fields.is_array() || fields.empty()) return;
  if (has(fields.back(), "A_Star")) {
    found.all_columns = true;
  } else {
    found.columns.insert(sql::string_node(fields.back()));
  }
  if (fields.size() > 2) found.foreign = "a column that is named with its schema";
}

void mention(const Tree& node, Mentioned& found) {
  if (node.is_array()) {
    for (const Tree& part : node) mention(part, found);
    return;
  }
  if (!node.is_object()) return;
  for (const auto& [name, part] : node.items()) {
    add_implied(name, part, found.implied);
    if (name == "ColumnRef") {
      mention_column(part, found);
    } else if (is_field_of_record(name, part)) {
      found.foreign = "a field of a record, which may be a function";
    } else if (name == "SubLink") {
      found.foreign = "a sub-query";
    } else if (name == "CurrentOfExpr") {
      found.foreign = "WHERE CURRENT OF";
    } else if (name == "SetToDefault") {
      found.has_default = true;
    } else if (name == "SQLValueFunction") {
      found.functions.insert("now");
    } else if (name == "FuncCall") {
      found.functions.insert(sql::last_name(child(part, "funcname")));
      if (child(part, "funcname").size() > 1 &&
          sql::string_node(child(part, "funcname").front()) != "pg_catalog")
        found.foreign = "a function that is named with its schema";
    }
    mention(part, found);
  }
}

// A constant of a conjunction of `column = constant`.
struct Equation {
  std::string column;
  const Tree* value;
  bool is_plain = true;  // cast to integers at most, which leaves an integer as it is
};

// Are these all of such a conjunction?
bool equations(const Tree& node, std::vector<Equation>& found) {
  if (has(node, "BoolExpr")) {
    const Tree& expression = child(node, "BoolExpr");
    if (sql::text_of(expression, "boolop") != "AND_EXPR") return false;
    for (const Tree& part : child(expression, "args")) {
      if (!equations(part, found)) return false;
    }
    return true;
  }
  const Tree& expression = child(node, "A_Expr");
  if (sql::text_of(expression, "kind") != "AEXPR_OP" ||
      sql::last_name(child(expression, "name")) != "=")
    return false;
  const Tree* column = &child(expression, "lexpr");
  const Tree* value = &child(expression, "rexpr");
  if (!has(*column, "ColumnRef")) std::swap(column, value);
  bool is_plain = true;
  for (; has(*value, "TypeCast"); value = &child(child(*value, "TypeCast"), "arg")) {
    static const std::set<std::string> kIntegers = {"int2", "int4", "int8"};
    is_plain &= kIntegers.contains(
        sql::last_name(child(child(child(*value, "TypeCast"), "typeName"), "names")));
  }
  if (!has(*column, "ColumnRef") || !(has(*value, "A_Const") || has(*value, "ParamRef")))
    return false;
  found.push_back({sql::last_name(child(child(*column, "ColumnRef"), "fields")), value, is_plain});
  return true;
}

class ShapeReader {
 public:
  ShapeReader(std::string_view text, StatementKind kind) : text_(text) {
    shape_.kind = kind;
    shape_.literals = key_of(text).literals;
  }

  Shape read() {
    const auto tree = sql::parse_sql(text_);
    if (!tree || tree->size() != 1) {
      shape_.gap = "it does not parse";
      return shape_;
    }
    const Tree& statement = sql::inside(child((*tree)[0], "stmt"));
    const std::string kind = kind_of(child((*tree)[0], "stmt"));
    Mentioned all;
    mention(statement, all);
    shape_.implied = std::move(all.implied);
    if (kind == "DeclareCursorStmt") return read_cursor();
    if (kind == "CopyStmt") {
      read_table({{"RangeVar", child(statement, "relation")}});
      if (has(statement, "whereClause")) doubt("COPY with a condition");
      return shape_;
    }
    if (has(statement, "withClause") && shape_.kind != StatementKind::Select) {
      shape_.gap = "WITH";
      return shape_;
    }
    if (shape_.kind == StatementKind::Select && is_query(statement)) {
      read_query(statement);
    } else if (shape_.kind == StatementKind::Select) {
      read_select(statement);
    } else if (shape_.kind == StatementKind::Insert) {
      read_insert(statement);
    } else {
      read_change(statement);
    }
    if (shape_.gap.empty() && shape_.reads_tables && may_be_gated_)
      shape_.gate = find_gate(text_, *tree, shape_);
    if (shape_.gate.size() == 2 && shape_.kind != StatementKind::Insert && !shape_.is_query)
      shape_.condition = {shape_.gate[0].at, shape_.gate[1].at};
    if (shape_.gate.size() == 2 && shape_.kind == StatementKind::Insert)
      shape_.values = {shape_.gate[0].at + shape_.gate[0].removed, shape_.gate[1].at};
    if (shape_.gap.empty() && shape_.reads_tables && shape_.gate.empty() &&
        shape_.kind != StatementKind::Insert)
      shape_.gap = "no place for a gate";
    return shape_;
  }

 private:
  void doubt(std::string why) {
    if (shape_.gap.empty()) shape_.gap = std::move(why);
  }

  // DECLARE c CURSOR FOR query: what it reads, it reads by the snapshot of now. Its gate is run by
  // the first FETCH.
  Shape read_cursor() {
    const std::vector<Word> words = words_of(text_);
    std::size_t at = 0;
    for (const Word& word : words) {
      if (word.text != "for") continue;
      at = word.end;
      break;
    }
    Shape shape = shape_of(text_.substr(at), StatementKind::Select);
    for (Splice& splice : shape.gate) splice.at += at;
    for (Range* range : {&shape.condition, &shape.values}) {
      if (!range->empty()) *range = {range->begin + at, range->end + at};
    }
    // Its literals are counted from the beginning of the query, not of this text.
    const Constants constants(shape, text_.substr(at));
    const auto settle = [&](IntegerPlace& place) {
      if (const auto number = constants.integer(place)) place = {.number = *number};
    };
    for (auto& [column, place] : shape.equated_integers) settle(place);
    if (shape.limit) settle(*shape.limit);
    shape.literals = {};
    shape.is_exact = true;
    shape.counts_rows = false;
    shape.is_cursor = true;
    if (shape.locks_rows && shape.gap.empty()) shape.gap = "a cursor that locks rows";
    return shape;
  }

  void read_table(const Tree& relation) {
    const Tree& variable = child(relation, "RangeVar");
    if (variable.is_null()) return doubt("something else than a table in FROM");
    shape_.schema = sql::text_of(variable, "schemaname");
    shape_.table = sql::text_of(variable, "relname");
    shape_.alias = sql::text_of(child(variable, "alias"), "aliasname");
    if (shape_.alias.empty()) shape_.alias = shape_.table;
    if (has(child(variable, "alias"), "colnames")) doubt("an alias that renames columns");
    if (has(variable, "catalogname")) doubt("a table of another database");
  }

  void use(const Tree& part) {
    Mentioned found;
    mention(part, found);
    shape_.used_columns.merge(found.columns);
    shape_.functions.merge(found.functions);
    shape_.uses_all_columns |= found.all_columns;
    if (!found.foreign.empty()) doubt(found.foreign);
  }

  void read_condition(const Tree& where) {
    Mentioned found;
    mention(where, found);
    shape_.condition_columns = found.columns;
    shape_.condition_functions = found.functions;
    shape_.functions.merge(found.functions);
    if (!found.foreign.empty()) doubt(found.foreign);
    if (found.all_columns) doubt("a whole row in a condition");
    std::vector<Equation> equated;
    if (where.is_null() || !equations(where, equated)) return;
    std::set<std::string> columns;
    for (const Equation& equation : equated) {
      if (!columns.insert(equation.column).second) return;  // id = 1 AND id = 2
    }
    for (const Equation& equation : equated) {
      shape_.equated_columns.insert(equation.column);
      const auto place = equation.is_plain ? integer_place(*equation.value) : std::nullopt;
      if (place) shape_.equated_integers[equation.column] = *place;
    }
  }

  // Where an integer stands; nothing of other constants.
  std::optional<IntegerPlace> integer_place(const Tree& value) {
    if (has(value, "ParamRef"))
      return IntegerPlace{IntegerPlace::Kind::Parameter, static_cast<std::size_t>(sql::number_of(
                                                             child(value, "ParamRef"), "number"))};
    const Tree& constant = child(value, "A_Const");
    if (!has(constant, "ival")) return std::nullopt;
    IntegerPlace place{.number = sql::number_of(child(constant, "ival"), "ival")};
    std::size_t at = static_cast<std::size_t>(sql::number_of(constant, "location"));
    place.is_negative = at < text_.size() && text_[at] == '-';
    if (place.is_negative) at = text_.find_first_not_of(" \t\r\n", at + 1);
    for (std::size_t i = 0; i < shape_.literals.size(); ++i) {
      if (shape_.literals[i].begin != at) continue;
      place.kind = IntegerPlace::Kind::Literal;
      place.index = i;
      return place;
    }
    shape_.is_exact = true;
    return place;
  }

  // Statements that only look at the server's catalog are none of ours.
  bool is_catalog(const Tree& node) {
    std::vector<const Tree*> open = {&node};
    std::set<std::string> names;
    bool any = false;
    while (!open.empty()) {
      const Tree& next = *open.back();
      open.pop_back();
      if (!next.is_structured()) continue;
      if (next.is_object() && has(next, "relname")) {
        any = true;
        const std::string schema = sql::text_of(next, "schemaname");
        if (schema != "pg_catalog" && schema != "information_schema" &&
            !(schema.empty() && sql::text_of(next, "relname").starts_with("pg_")))
          return false;
        if (schema.empty()) names.insert(sql::text_of(next, "relname"));
      }
      for (const Tree& part : next) open.push_back(&part);
    }
    if (!any) return false;
    shape_.reads_tables = false;
    // A table of the user's may be called so too, and functions may read elsewhere.
    shape_.implied.catalog = std::move(names);
    Mentioned found;
    mention(node, found);
    shape_.functions.merge(found.functions);
    if (!found.foreign.empty() && found.foreign != "a sub-query") doubt(found.foreign);
    return true;
  }

  // Does it have several blocks or tables?
  static bool is_query(const Tree& select) {
    if (has(select, "withClause") || has(select, "larg")) return true;
    const Tree& from = child(select, "fromClause");
    if (from.is_array() &&
        (from.size() > 1 || has(from.front(), "JoinExpr") || has(from.front(), "RangeSubselect") ||
         has(from.front(), "RangeFunction")))
      return true;
    Mentioned found;
    mention(select, found);
    return found.foreign == "a sub-query";
  }

  void read_query(const Tree& select) {
    shape_.is_query = true;
    if (is_catalog(select)) return;
    Blocks found = blocks_of(text_);
    if (!found.gap.empty()) return doubt(std::move(found.gap));
    shape_.blocks = std::move(found.blocks);
    shape_.block_columns = std::move(found.columns);
    shape_.whole_aliases = std::move(found.whole);
    shape_.functions = found.functions;
    shape_.condition_functions = std::move(found.functions);
    shape_.reads_tables = std::ranges::any_of(
        shape_.blocks, [](const Block& block) { return !block.tables.empty(); });
  }

  void read_select(const Tree& select) {
    if (is_catalog(select)) return;
    if (has(select, "intoClause")) return doubt("SELECT INTO");
    if (has(select, "valuesLists")) return doubt("VALUES");
    for (const char* part : {"targetList", "groupClause", "havingClause", "sortClause",
                             "windowClause", "distinctClause"})
      use(child(select, part));
    const Tree& from = child(select, "fromClause");
    if (is_empty(from)) {
      shape_.reads_tables = false;
      return;
    }
    read_table(from.front());
    read_condition(child(select, "whereClause"));
    for (const Tree& target : child(select, "targetList"))
      shape_.output_names.insert(sql::text_of(child(target, "ResTarget"), "name"));
    read_limit(select);
    read_locks(child(select, "lockingClause"));
    const bool aggregates = has(select, "groupClause") || has(select, "havingClause") ||
                            has(select, "distinctClause") || calls_aggregate(select);
    shape_.counts_rows = !aggregates && !has(select, "limitCount") && !has(select, "limitOffset");
  }

  // Whether a call is that of an aggregate only the catalog knows; any call may be one.
  static bool calls_aggregate(const Tree& select) {
    Mentioned found;
    mention(child(select, "targetList"), found);
    return !found.functions.empty();
  }

  void read_limit(const Tree& select) {
    if (has(select, "limitOffset")) return doubt("OFFSET");
    if (!has(select, "limitCount")) return;
    if (sql::text_of(select, "limitOption") == "LIMIT_OPTION_WITH_TIES")
      return doubt("FETCH … WITH TIES");
    if (!has(child(child(select, "limitCount"), "A_Const"), "ival"))
      return doubt("a LIMIT that is no number");
    shape_.limit = integer_place(child(select, "limitCount"));
  }

  void read_locks(const Tree& clauses) {
    if (is_empty(clauses)) return;
    shape_.locks_rows = true;
    shape_.is_key_share = true;
    shape_.is_share = true;
    for (const Tree& clause : clauses) {
      const Tree& lock = child(clause, "LockingClause");
      if (sql::text_of(lock, "waitPolicy") != "LockWaitBlock") doubt("SKIP LOCKED or NOWAIT");
      const std::string strength = sql::text_of(lock, "strength");
      shape_.is_key_share &= strength == "LCS_FORKEYSHARE";
      shape_.is_share &= strength == "LCS_FORKEYSHARE" || strength == "LCS_FORSHARE";
    }
  }

  void read_change(const Tree& statement) {
    if (!is_empty(child(statement, "fromClause")) || !is_empty(child(statement, "usingClause")))
      return doubt("a join");
    read_table({{"RangeVar", child(statement, "relation")}});
    for (const Tree& target : child(statement, "targetList")) {
      const Tree& column = child(target, "ResTarget");
      shape_.set_columns.insert(sql::text_of(column, "name"));
      if (has(child(column, "val"), "MultiAssignRef")) doubt("SET of several columns at once");
      if (has(column, "indirection")) shape_.used_columns.insert(sql::text_of(column, "name"));
      use(child(column, "val"));
    }
    use(child(statement, "returningList"));
    read_condition(child(statement, "whereClause"));
  }

  void read_insert(const Tree& statement) {
    read_table({{"RangeVar", child(statement, "relation")}});
    for (const Tree& column : child(statement, "cols"))
      shape_.insert_columns.push_back(sql::text_of(child(column, "ResTarget"), "name"));
    if (has(statement, "onConflictClause")) read_conflict(child(statement, "onConflictClause"));
    use(child(statement, "returningList"));
    const Tree& select = child(child(statement, "selectStmt"), "SelectStmt");
    if (select.is_null()) return;  // DEFAULT VALUES
    if (!has(select, "valuesLists")) return doubt("INSERT … SELECT");
    Mentioned found;
    mention(child(select, "valuesLists"), found);
    may_be_gated_ = may_be_selected(found);
    shape_.functions.merge(found.functions);
    if (!found.foreign.empty()) doubt(found.foreign);
  }

  void read_conflict(const Tree& clause) {
    const bool updates = sql::text_of(clause, "action") == "ONCONFLICT_UPDATE";
    shape_.conflict = updates ? Shape::Conflict::IsUpdated : Shape::Conflict::IsIgnored;
    if (has(clause, "whereClause")) doubt("ON CONFLICT … DO UPDATE … WHERE");
    for (const Tree& target : child(clause, "targetList")) {
      const Tree& column = child(target, "ResTarget");
      shape_.set_columns.insert(sql::text_of(column, "name"));
      use(child(column, "val"));
    }
  }

  std::string_view text_;
  Shape shape_;
  bool may_be_gated_ = true;
};

}  // namespace

Shape shape_of(std::string_view statement, StatementKind kind) {
  return ShapeReader(statement, kind).read();
}

Constants::Constants(const Shape& shape, std::string_view statement)
    : shape_(shape), statement_(statement) {
  if (!shape.literals.empty()) literals_ = key_of(statement).literals;
}

std::string_view Constants::text(Range range) const {
  const std::size_t begin = place(range.begin);
  return statement_.substr(begin, place(range.end) - begin);
}

std::optional<std::int64_t> Constants::integer(const IntegerPlace& place) const {
  switch (place.kind) {
    case IntegerPlace::Kind::Parameter: return std::nullopt;
    case IntegerPlace::Kind::Number: return place.number;
    case IntegerPlace::Kind::Literal: break;
  }
  if (place.index >= literals_.size()) return std::nullopt;
  const Range range = literals_[place.index];
  std::int64_t number = 0;
  std::from_chars(statement_.data() + range.begin, statement_.data() + range.end, number);
  return place.is_negative ? -number : number;
}

std::string gate_condition(std::uint64_t number, GateKind kind) {
  constexpr const char* kSnapshot = "pg_catalog.pg_current_snapshot()";
  std::string told = fmt::format("{}::pg_catalog.text", kSnapshot);
  if (kind != GateKind::Snapshot)
    told = fmt::format(
        "pg_catalog.concat({}, ' ', {}, ' ', pg_catalog.current_setting('transaction_isolation'))",
        kSnapshot,
        kind == GateKind::OwnId ? "pg_catalog.pg_current_xact_id()"
                                : "pg_catalog.pg_current_xact_id_if_assigned()");
  return fmt::format("(SELECT pg_catalog.pg_logical_emit_message(false, '{} {}', {})) IS NOT NULL",
                     kGatePrefix, number, told);
}

std::string gated(std::string_view statement, const Shape& shape, std::uint64_t number,
                  GateKind kind) {
  const Constants constants(shape, statement);
  std::string out;
  std::size_t from = 0;
  for (const Splice& splice : shape.gate) {
    const std::size_t at = constants.place(splice.at);
    out += statement.substr(from, at - from);
    out += inserted(splice, number, kind);
    from = constants.place(splice.at + splice.removed);
  }
  out += statement.substr(from);
  return out;
}

std::string inserted(const Splice& splice, std::uint64_t number, GateKind kind) {
  std::string out = splice.inserted;
  const std::size_t mark = out.find(kGateMark);
  if (mark != std::string::npos) out.replace(mark, 1, gate_condition(number, kind));
  return out;
}

}  // namespace isoscope::record
