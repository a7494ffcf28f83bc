#include "record/matches.h"

#include <fmt/format.h>

#include <charconv>

namespace isoscope::record {
namespace {

// Blanks in a row as one: the same condition laid out otherwise is the same.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

// Does the text have the parameter $n?
bool mentions(std::string_view text, std::size_t n) {
  const std::string name = fmt::format("${}", n);
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

std::string parameters_text(const RecordedStatement& statement) {
  std::string out;
  for (std::size_t i = 0; i < statement.parameters.size(); ++i) {
    const Parameter& parameter = statement.parameters[i];
    out += fmt::format("{}${} = ", i == 0 ? "" : ", ", i + 1);
    if (parameter.is_null) {
      out += "null";
    } else if (!parameter.is_binary) {
      out += parameter.bytes;
    } else {
      for (const char byte : parameter.bytes)
        out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

}  // namespace

std::string question(const Shape& shape, const RecordedStatement& statement,
                     const std::string& selected) {
  std::string out;
  const std::string condition = on_one_line(shape.condition);
  if (!condition.empty()) out = "where " + condition;
  const bool has_parameters = condition.find('$') != std::string::npos;
  if (has_parameters && !statement.parameters.empty())
    out += fmt::format(" ({})", parameters_text(statement));
  if (!selected.empty()) out += (out.empty() ? "select " : " select ") + selected;
  return out.empty() ? "all" : out;
}

Result<std::string> Matches::load(const TableVersions& versions) {
  const auto known = loaded_.find(&versions);
  if (known != loaded_.end()) return known->second;
  const std::string name = fmt::format("isoscope_versions_{}", loaded_.size());
  const Table& table = *versions.table;
  auto made = sql_.query(fmt::format(
      "CREATE TEMPORARY TABLE {} AS SELECT t.*, 0::bigint AS isoscope_version FROM ONLY {}.{} t "
      "WITH NO DATA",
      name, quoted_name(table.schema), quoted_name(table.name)));
  if (!made) return made.error();
  std::vector<Row> rows;
  for (const auto& [key, chain] : versions.rows) {
    for (const Version& version : chain.versions) {
      if (!version.exists) continue;
      rows.push_back(version.values);
      rows.back().emplace_back(std::to_string(version.id));
    }
  }
  if (auto copied = sql_.copy_in(fmt::format("COPY {} FROM STDIN", name), rows); !copied)
    return copied.error();
  loaded_[&versions] = name;
  return name;
}

Result<const std::vector<bool>*> Matches::of(const TableVersions& versions, const Shape& shape,
                                             const RecordedStatement& statement) {
  const std::string name_of_question = versions.table->full_name() + " " + shape.alias + " " +
                                       question(shape, statement, "") + "|" +
                                       parameters_text(statement);
  const auto known = known_.find(name_of_question);
  if (known != known_.end()) return &known->second;
  std::vector<bool> matching(versions.next_id, shape.condition.empty());
  if (!shape.condition.empty()) {
    auto name = load(versions);
    if (!name) return name.error();
    std::string sql = fmt::format("SELECT isoscope_version FROM {} AS {} WHERE ({}\n)", *name,
                                  quoted_name(shape.alias), shape.condition);
    // Parameters that only the rest of the statement mentions would be without a type here.
    for (std::size_t i = 1; i <= statement.parameters.size(); ++i) {
      if (!mentions(shape.condition, i))
        sql += fmt::format(" AND ({}::text IS NULL OR TRUE)", fmt::format("${}", i));
    }
    auto rows = statement.parameters.empty()
                    ? sql_.query(sql)
                    : sql_.query(sql, statement.parameters, statement.parameter_types);
    if (!rows) return rows.error();
    for (const Row& row : *rows) {
      std::size_t id = 0;
      const std::string& text = *row[0];
      std::from_chars(text.data(), text.data() + text.size(), id);
      if (id < matching.size()) matching[id] = true;
    }
  }
  return &(known_[name_of_question] = std::move(matching));
}

}  // namespace isoscope::record
