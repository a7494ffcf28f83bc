#include "sql/read/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sql/read/pg_parse.h"
#include "support/blanks.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

enum class Rough : std::uint8_t { No, Number, Time, PartOfTime, Text };

struct KnownType {
  std::string_view name;
  Type type;
  Rough rough = Rough::No;
  bool is_fresh = false;
  std::uint8_t bits = 64;
};

constexpr KnownType kKnownTypes[] = {
    {"int2", Type::Integer, Rough::No, false, 16},
    {"int4", Type::Integer, Rough::No, false, 32},
    {"int8", Type::Integer},
    {"smallint", Type::Integer, Rough::No, false, 16},
    {"integer", Type::Integer, Rough::No, false, 32},
    {"int", Type::Integer, Rough::No, false, 32},
    {"bigint", Type::Integer},
    {"oid", Type::Integer, Rough::Number},
    {"smallserial", Type::Integer, Rough::No, true, 16},
    {"serial", Type::Integer, Rough::No, true, 32},
    {"bigserial", Type::Integer, Rough::No, true},
    {"serial2", Type::Integer, Rough::No, true, 16},
    {"serial4", Type::Integer, Rough::No, true, 32},
    {"serial8", Type::Integer, Rough::No, true},
    {"numeric", Type::Numeric},
    {"decimal", Type::Numeric},
    {"dec", Type::Numeric},
    {"money", Type::Integer, Rough::Number},
    {"float4", Type::Integer, Rough::Number},
    {"float8", Type::Integer, Rough::Number},
    {"real", Type::Integer, Rough::Number},
    {"date", Type::Integer, Rough::PartOfTime},
    {"time", Type::Integer, Rough::PartOfTime},
    {"timetz", Type::Integer, Rough::PartOfTime},
    {"timestamp", Type::Integer, Rough::Time},
    {"timestamptz", Type::Integer, Rough::Time},
    {"interval", Type::Integer, Rough::PartOfTime},
    {"text", Type::Text},
    {"varchar", Type::Text},
    {"bpchar", Type::Text, Rough::Text},
    {"char", Type::Text, Rough::Text},
    {"name", Type::Text, Rough::Text},
    {"citext", Type::Text, Rough::Text},
    {"uuid", Type::Text},
    {"bool", Type::Boolean},
    {"boolean", Type::Boolean},
};

// n of varchar(n); 0 where there is none.
std::uint32_t length_of(const Tree& typmods) {
  if (!typmods.is_array() || typmods.size() != 1) return 0;
  const Tree& number = child(child(typmods[0], "A_Const"), "ival");
  return static_cast<std::uint32_t>(number_of(number, "ival"));
}

// numeric(p, s), numeric(p). False if it is one that Decimal cannot hold.
bool read_scale(const Tree& typmods, Width& width) {
  width.bits = kAnyScale;
  if (!typmods.is_array() || typmods.empty()) return true;
  std::int64_t given[2] = {0, 0};
  for (std::size_t i = 0; i < typmods.size() && i < 2; ++i) {
    if (!has(child(typmods[i], "A_Const"), "ival")) return false;
    given[i] = number_of(child(child(typmods[i], "A_Const"), "ival"), "ival");
  }
  if (given[1] < 0 || given[1] >= Decimal::kMaxDigits || given[0] > Decimal::kMaxDigits)
    return false;
  width.precision = static_cast<std::uint8_t>(given[0]);
  width.bits = static_cast<std::uint8_t>(given[1]);
  return true;
}

}  // namespace

std::optional<TableId> Catalog::find_table(std::string_view name) const {
  for (std::uint32_t i = 0; i < tables.size(); ++i) {
    if (tables[i].name == name) return TableId{i};
  }
  return std::nullopt;
}

std::optional<TableId> Catalog::expect_table(const std::string& name, Place where,
                                             Findings& findings) const {
  if (auto id = find_table(name)) return id;
  std::vector<std::string_view> names;
  for (const Table& table : tables) names.push_back(table.name);
  findings.fail(where, fmt::format("unknown table '{}'", name),
                names.empty() ? "the file declares no tables" : suggest(name, names));
  return std::nullopt;
}

DeclaredType Catalog::type_of(const Tree& type_name, const Locator& where,
                              Findings& findings) const {
  const Place place = where.place(number_of(type_name, "location"));
  const std::string name = last_name(child(type_name, "names"));
  DeclaredType result;
  result.is_array = has(type_name, "arrayBounds");
  if (flag_of(type_name, "pct_type")) {
    const Tree& names = child(type_name, "names");
    const std::string table = names.size() > 1 ? string_node(names[names.size() - 2]) : "";
    const auto id = expect_table(table, place, findings);
    if (!id) return result;
    const auto column = find_column(this->table(*id), name);
    if (column) {
      result.type = this->table(*id).columns[*column].type;
      result.width = this->table(*id).columns[*column].width;
    } else {
      findings.fail(place, fmt::format("unknown column '{}' of table '{}'", name, table),
                    suggest_column(this->table(*id), name));
    }
    return result;
  }
  for (const KnownType& known : kKnownTypes) {
    if (known.name != name) continue;
    result.type = known.type;
    result.is_fresh = known.is_fresh;
    result.width.bits = known.bits;
    result.width.is_number = known.type == Type::Integer && known.rough == Rough::No;
    result.width.is_uuid = name == "uuid";
    if (known.type == Type::Text) result.width.length = length_of(child(type_name, "typmods"));
    if (known.type == Type::Numeric) {
      // Elements of an array are not rounded here.
      const bool is_kept = read_scale(child(type_name, "typmods"), result.width) &&
                           (!result.is_array || result.width.bits == kAnyScale);
      if (!is_kept) {
        result.width = {};
        findings.note(place, "the size of this numeric is ignored", NoteKind::Gap);
      }
    }
    // Between two whole numbers there are others; between two moments there are none that count.
    has_moments |= known.rough == Rough::Time || known.rough == Rough::PartOfTime;
    if (known.rough == Rough::Number)
      findings.note(place, fmt::format("{} values are treated as whole numbers", name),
                    NoteKind::Gap);
    if (known.rough == Rough::Time)
      findings.note(place, fmt::format("{} values are treated as whole numbers", name),
                    NoteKind::Remark);
    // A date is not the moment that is cast to it, and a month has no length.
    const bool is_rounded = known.rough == Rough::Time && has(type_name, "typmods");
    if (known.rough == Rough::PartOfTime || is_rounded)
      findings.note(place, fmt::format("{} values are treated as moments", name), NoteKind::Gap);
    if (known.rough == Rough::Text)
      findings.note(place, fmt::format("{} values are compared as texts", name), NoteKind::Gap);
    return result;
  }
  if (const auto declared = types.find(name); declared != types.end()) {
    const bool is_array = result.is_array;
    result = declared->second;
    result.is_array |= is_array;
    if (result.type == Type::Numeric && result.width.bits != kAnyScale)
      findings.note(place, "a domain of numerics rounds only what is stored", NoteKind::Gap);
    return result;
  }
  result.is_void = name == "void";
  result.is_trigger = name == "trigger" || name == "event_trigger";
  result.row_of = find_table(name);
  result.is_record = name == "record" || result.row_of.has_value();
  if (result.is_void || result.is_trigger || result.is_record) return result;
  result.type = Type::Text;
  findings.note(place, fmt::format("values of type {} are treated as texts", name), NoteKind::Gap);
  return result;
}

DeclaredType Catalog::type_of(std::string text, Place where, Findings& findings) const {
  text = trimmed(text, blanks::in_sql);
  const std::string lower = lower_case(text);
  constexpr std::string_view kRowType = "%rowtype";
  if (lower.ends_with(kRowType)) {
    std::string name(
        trimmed(std::string_view(lower).substr(0, lower.size() - kRowType.size()), blanks::in_sql));
    if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) name.erase(0, dot + 1);
    DeclaredType result;
    result.is_record = true;
    result.row_of = expect_table(name, where, findings);
    return result;
  }
  // Names of types stand in many places of SQL's grammar; a parameter takes %TYPE as well.
  const std::string prefix = "CREATE FUNCTION f(p ";
  const auto tree = parse_sql(prefix + text + ") RETURNS void LANGUAGE sql AS ''");
  const Locator locator{.otherwise = where};
  if (tree && tree->size() == 1) {
    const Tree& parameters =
        child(child(child((*tree)[0], "stmt"), "CreateFunctionStmt"), "parameters");
    if (parameters.size() == 1)
      return type_of(child(child(parameters[0], "FunctionParameter"), "argType"), locator,
                     findings);
  }
  findings.fail(where, fmt::format("'{}' is no type that we understand", text));
  return {};
}

std::optional<ColumnId> find_column(const Table& table, std::string_view name) {
  for (const ColumnId i : table.columns.ids()) {
    if (table.columns[i].name == name && !table.columns[i].is_hidden) return i;
  }
  return std::nullopt;
}

std::string suggest_column(const Table& table, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Column& column : table.columns) {
    if (!column.is_hidden) names.push_back(column.name);
  }
  return suggest(name, names);
}

bool is_rough_number(std::string_view name) {
  const auto known = std::ranges::find(kKnownTypes, name, &KnownType::name);
  return known != std::end(kKnownTypes) && known->type == Type::Integer &&
         known->rough != Rough::No;
}

std::string_view a_type(Type type) {
  switch (type) {
    case Type::Integer: return "an integer";
    case Type::Text: return "a text";
    case Type::Boolean: return "a boolean";
    case Type::Numeric: return "a numeric";
  }
  return "a value";
}

}  // namespace isoscope::sql
