#include "sql/sqlstates.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace isoscope::sql {
namespace {

struct Condition {
  std::string_view name, code;
};

constexpr std::array<Condition, 41> kConditions = {{
    {"unique_violation", "23505"},
    {"foreign_key_violation", "23503"},
    {"check_violation", "23514"},
    {"not_null_violation", "23502"},
    {"exclusion_violation", "23P01"},
    {"restrict_violation", "23001"},
    {"integrity_constraint_violation", "23000"},
    {"serialization_failure", "40001"},
    {"deadlock_detected", "40P01"},
    {"transaction_rollback", "40000"},
    {"raise_exception", "P0001"},
    {"no_data_found", "P0002"},
    {"too_many_rows", "P0003"},
    {"assert_failure", "P0004"},
    {"plpgsql_error", "P0000"},
    {"division_by_zero", "22012"},
    {"numeric_value_out_of_range", "22003"},
    {"null_value_not_allowed", "22004"},
    {"invalid_parameter_value", "22023"},
    {"invalid_text_representation", "22P02"},
    {"string_data_right_truncation", "22001"},
    {"datetime_field_overflow", "22008"},
    {"invalid_datetime_format", "22007"},
    {"data_exception", "22000"},
    {"cardinality_violation", "21000"},
    {"case_not_found", "20000"},
    {"invalid_transaction_termination", "2D000"},
    {"lock_not_available", "55P03"},
    {"object_not_in_prerequisite_state", "55000"},
    {"query_canceled", "57014"},
    {"insufficient_privilege", "42501"},
    {"undefined_table", "42P01"},
    {"undefined_column", "42703"},
    {"undefined_function", "42883"},
    {"undefined_object", "42704"},
    {"duplicate_object", "42710"},
    {"duplicate_table", "42P07"},
    {"duplicate_column", "42701"},
    {"invalid_schema_name", "3F000"},
    {"feature_not_supported", "0A000"},
    {"internal_error", "XX000"},
}};

}  // namespace

std::optional<std::string> sqlstate_of(std::string_view condition) {
  for (const Condition& known : kConditions) {
    if (known.name == condition) return std::string(known.code);
  }
  const bool is_code = condition.size() == 5 && std::ranges::all_of(condition, [](char c) {
                         return std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                                std::isupper(static_cast<unsigned char>(c)) != 0;
                       });
  if (is_code) return std::string(condition);
  return std::nullopt;
}

bool is_modelled_sqlstate(std::string_view code) {
  for (const std::string_view other :
       {"22P02", "22001", "22008", "22007", "22023", "22004", "22000", "57014", "55000", "XX000"}) {
    if (code == other) return false;
  }
  return true;
}

std::string sqlstate_of_error(std::string_view what) {
  static constexpr Condition kKnown[] = {{"division by zero", "22012"},
                                         {"smallint out of range", "22003"},
                                         {"integer out of range", "22003"},
                                         {"bigint out of range", "22003"},
                                         {"numeric field overflow", "22003"},
                                         {"a text is too long", "22001"},
                                         {"a text is none of its type", "22P02"},
                                         {"a query returned no rows", "P0002"},
                                         {"a query returned more than one row", "P0003"}};
  for (const Condition& known : kKnown) {
    if (what == known.name) return std::string(known.code);
  }
  return "";
}

}  // namespace isoscope::sql
